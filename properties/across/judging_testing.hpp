// Cases offered for judging as somebody else's tensors.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fixtures/tensor/errors.hpp"
#include "oracles/arithmetic/acceptance.hpp"
#include "properties/exchange/buffers_in_files.hpp"
#include "properties/exchange/judging.hpp"
#include "properties/gate/case_text.hpp"

namespace assay::properties::judging_testing {

using fixtures::DType;
using fixtures::Tensor;

inline const std::string cast =
    "mxfp8_cast:in=bf16,fp8=e4m3,rule=rceil,rows=3,cols=64,stride=5,fill=any_bits,seed=2";
inline const std::string delta =
    "gated_delta:io=bf16,state=fp32,gates=raw,softplus=log1p,batch=2,steps=2,pool=4,slots=permuted,v=128";
inline const std::vector<std::string> texts = {
    cast,
    "mxfp8_cast:in=fp16,fp8=e5m2,rule=even,dir=bidimensional,scales=swizzled,rows=33,cols=64,fill=normal",
    "mxfp8_dequant:fp8=e5m2,out=fp32,dir=colwise,rows=33,cols=40,stride=41,pad=nan,seed=3",
    "matmul_nbits:model=bf16,schedule=split_k,split=8,bias=once,zp=packed,m=2,n=8,k=96,pattern=ordinary",
    "matmul_nbits:model=fp32,schedule=tile,bits=2,block=64,bias=none,zp=none,m=1,n=8,k=96,judge=bound",
    delta,
    "gated_delta:io=fp32,gates=precomputed,layout=vk,state=bf16,batch=2,eps=1e-12,beta=bf16"};

inline Tensor tensor_of(const BufferInFile& buffer, std::vector<std::byte> bytes) {
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {buffer.name, buffer.dtype, buffer.shape, *owner, owner};
}

/// The case's inputs, and outputs as its oracle wants them, as a file would hold them; no case is named.
inline CaseFile offer(const std::string& text) {
  const auto workload = build_case(text);
  const auto givens = given(*workload);
  CaseFile file;
  file.path = "offered";
  std::size_t i = 0;
  for (const BufferInFile& buffer : buffers_in_files(*workload)) {
    std::vector<std::byte> bytes;
    if (buffer.given) {
      bytes.assign(givens[i].bytes.begin(), givens[i].bytes.end());
    } else {
      const std::size_t output = i - givens.size();
      const auto& acceptance = workload->acceptance()[output];
      bytes = acceptance.best.empty() ? acceptance.lo : acceptance.best;
      const std::size_t width = fixtures::bytes_of(buffer.dtype);
      const auto initial = workload->outputs()[output].initial;
      for (const auto& kept : acceptance.untouched)  // of a pool the old states, elsewhere anything
        for (std::size_t at = kept.begin * width; at < kept.end * width; ++at)
          bytes[at] = initial.empty() ? std::byte{0x5A} : initial[at];
    }
    file.tensors.emplace(buffer.name, tensor_of(buffer, std::move(bytes)));
    ++i;
  }
  return file;
}

inline CaseFile changed(CaseFile file, const std::string& name,
                        const std::function<void(std::vector<std::byte>&)>& how) {
  Tensor& tensor = file.tensors.at(name);
  std::vector<std::byte> bytes(tensor.bytes.begin(), tensor.bytes.end());
  how(bytes);
  tensor = tensor_of({tensor.name, tensor.dtype, tensor.shape, false}, std::move(bytes));
  return file;
}

inline JudgeResult named(CaseFile file, const std::string& text) {
  file.text = parse_case(text);
  return judge_tensors(file, {});
}

inline JudgeResult open(const CaseFile& file, const std::string& contracts = "",
                        const std::string& family = "") {
  JudgeOptions options;
  options.contracts = contracts;
  options.contracts_given = true;
  options.family = family;
  return judge_tensors(file, options);
}

inline std::string refusal(const CaseFile& file, const std::string& contracts = "",
                           const std::string& family = "") {
  try {
    (void)open(file, contracts, family);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "accepted";
}

inline std::vector<std::string> right_tokens(const JudgeResult& result) {
  std::vector<std::string> tokens;
  for (const JudgedReading& reading : result.readings)
    if (reading.consistent()) tokens.push_back(reading.token);
  return tokens;
}

}  // namespace assay::properties::judging_testing
