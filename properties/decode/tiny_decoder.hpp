// A small decoder with int4 weights made from a seed, whose every rounding is written down, so that its
// greedy decode gives the same tokens on every device.
//
//   x[t] = embedding[token t] + position[t mod positions] + carry
//   in each layer   x = x + mix * (n[t], n[t-1], .., n[t-7]),  n = normalised(x), zero before the text
//                   x = x + down * (relu(g) u),  (g, u) = up * normalised(x)
//   carry = normalised(x) of the last token of a pass, for the next pass; zero before the text
//   logits = head * carry; the next token is the first of the largest
//
// mix, up, down and head are MatMulNBits nodes, run on the device. The rest is arithmetic on the host: sums
// and products in fp32, rounded to bf16 each; normalised() moves exponents.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "properties/decode/int4_matrix.hpp"
#include "properties/decode/verdicts.hpp"

namespace assay::properties::decode {

/// bf16 of the fp32 sum or product.
Code16 add(Code16, Code16);
Code16 multiply(Code16, Code16);

/// The vector divided by the power of two that brings its largest magnitude into [1, 2). What falls below the
/// smallest normal number becomes a zero of its sign. Infinities and NaNs count as the largest exponent.
std::vector<Code16> normalised(const std::vector<Code16>&);

/// The index of the largest logit, the lowest among equals; NaNs are passed over, and 0 is the answer when
/// there is nothing else. +0 is larger than -0.
unsigned argmax(const std::vector<Code16>& logits);

class TinyDecoder {
 public:
  static constexpr std::int64_t vocabulary = 256, hidden = 64, window = 8, mlp = 64;
  static constexpr std::size_t layers = 2, positions = 128;

  TinyDecoder(kernels::Device&, kernels::matmul_nbits::TensorCores, kernels::matmul_nbits::Levers);

  /// The `count` tokens that follow the prompt (at least one token). The prompt goes through in one pass, the
  /// rest token by token. Throws DeviceError and ExecutorError.
  std::vector<unsigned> generate(const std::vector<unsigned>& prompt, std::size_t count);

  /// Of everything generated so far.
  const kernels::Witness& witness() const { return witness_; }
  Casts casts() const { return casts_of(witness_, nodes_); }

 private:
  using Rows = std::vector<std::vector<Code16>>;
  struct Layer {
    Int4Matrix mix, up, down;
  };

  Rows run_node(const Int4Matrix&, const Rows&);
  /// What a text has left behind.
  struct Past {
    std::array<Rows, layers> inputs;  ///< normalised, of every layer and token
    std::vector<Code16> carry;
  };
  Rows embed(const std::vector<unsigned>& tokens, const Past&) const;
  /// Logits after the last of `tokens`, which continue the text.
  std::vector<Code16> forward(const std::vector<unsigned>& tokens, Past&);
  kernels::DeviceBuffer& buffer(const char* name, std::size_t bytes);

  kernels::Device& device_;
  kernels::matmul_nbits::TensorCores tensor_cores_;
  kernels::matmul_nbits::Levers levers_;
  std::vector<Code16> embeddings_, position_codes_;
  std::vector<Layer> layers_;
  Int4Matrix head_;
  std::map<std::pair<std::string, std::size_t>, std::unique_ptr<kernels::DeviceBuffer>> buffers_;
  kernels::Witness witness_;
  std::uint64_t nodes_ = 0;
};

/// Decodes 60 tokens after one prompt, whose pass is a matrix product, and 80 after another, whose pass is a
/// loop over rows.
RunRecord decode_greedily(kernels::Device&, kernels::matmul_nbits::TensorCores,
                          kernels::matmul_nbits::Levers);

}  // namespace assay::properties::decode
