// What the targets over cases share: no kernel runs in them, but cases are built and the oracle is asked.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "properties/fuzz/fuzz.hpp"
#include "properties/gate/case_text.hpp"
#include "properties/gate/family.hpp"

namespace assay::fuzz {

/// Whether building the case and asking the oracle about it takes milliseconds: at most some thousand
/// elements, and nothing of a file or a reported fault, so that no input depends on what is on this machine.
/// A case that its family refuses is, because the refusal comes first.
bool is_cheap(const properties::CaseText&);

/// What "CODE CODE*n" in a text makes of elements from `first` on, read a second time: throws
/// std::out_of_range where they are past the end of `contents`.
void write_codes(std::string_view codes, std::size_t width, std::size_t first,
                 std::vector<std::byte>& contents);

/// Claims that the two begin with the same bits.
void claim_same_contents(const properties::Workload&, const properties::Workload&, std::string_view what);

/// The right output of a case of which nothing is padding and every output is exact.
std::vector<std::vector<std::byte>> right_outputs(properties::Workload&);

/// A small case of a family by name, whose outputs right_outputs() has.
struct KnownCase {
  std::string_view family, text;
  std::string_view contracts;  ///< all that `judge` can be told of it
};
inline constexpr KnownCase known_cases[] = {
    {"gated_delta", "gated_delta:io=bf16,state=bf16,gates=precomputed,batch=2",
     "io=bf16,state=bf16,layout=kv,gates=precomputed,norm=division,eps=1e-6,beta=fp32,judge=bits,scale=auto"},
    {"matmul_nbits", "matmul_nbits:model=fp16,schedule=tile,bias=once,m=2,n=4,k=32,block=16",
     "model=fp16,schedule=tile,bias=once,bits=4,block=16,judge=bits"},
    {"mxfp8_cast", "mxfp8_cast:in=bf16,rows=2,cols=64,fill=ramps",
     "in=bf16,fp8=e4m3,rule=rceil,specials=poison,padding=untouched"},
    {"mxfp8_dequant", "mxfp8_dequant:out=fp16,rows=3,cols=64,scales=realistic",
     "fp8=e4m3,out=fp16,dir=rowwise,layout=linear"},
};

/// A folder of its own below the temporary one, gone when the program ends.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Writes a file; throws std::runtime_error when it cannot.
void put(const std::filesystem::path&, Bytes);

}  // namespace assay::fuzz
