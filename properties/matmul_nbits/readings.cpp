// What tensors can be of a multiplication by n-bit weights: the weights' extents say bits and block, the
// type of A the model; the order of operations is open.
#include "properties/matmul_nbits/readings.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "fixtures/files/messages.hpp"
#include "properties/exchange/readings.hpp"
#include "properties/matmul_nbits/point.hpp"

namespace assay::properties::matmul_nbits {
namespace {

using formats::Format;

/// [n, blocks, bytes of a block] of b; blocks come from scales [n, blocks] where b is [n, bytes].
struct Weights {
  std::size_t n = 0, blocks = 0, block_bytes = 0;
};

Weights weights_of(const Offer& offer) {
  const OfferedTensor &b = offer.need("b"), &scales = offer.need("scales");
  const auto elements = [](const OfferedTensor& tensor) {
    return fixtures::element_count(tensor.shape).value_or(0);
  };
  if (elements(b) == 0) refuse(b, "it has no elements");
  Weights found;
  if (b.shape.size() == 3) {
    found = {b.shape[0], b.shape[1], b.shape[2]};
  } else if (b.shape.size() == 2) {
    found.n = b.shape[0];
    found.blocks = elements(scales) / found.n;
    if (found.blocks == 0 || elements(scales) % found.n != 0 || b.shape[1] % found.blocks != 0)
      refuse(scales, fmt::format("its shape is {}, which gives the {} bytes of a row of 'b' no blocks",
                                 fixtures::shape_text(scales.shape), b.shape[1]));
    found.block_bytes = b.shape[1] / found.blocks;
  } else {
    refuse(b,
           fmt::format("its shape is {}; it has to be [n, blocks, bytes of a block] or [n, bytes of a row]",
                       fixtures::shape_text(b.shape)));
  }
  check_shape(offer, "scales", {found.n, found.blocks});
  return found;
}

/// "bits=4,block=32" for every packing of k codes that these bytes can be.
std::vector<std::string> packings(const Offer& offer, const Weights& weights, std::size_t k) {
  std::vector<std::string> found;
  const OfferedTensor* const zero_points = offer.find("zero_points");
  bool packed = false;
  for (const std::size_t bits : {2u, 4u, 8u}) {
    for (std::size_t block = 16; block <= 256; block *= 2) {
      if (block * bits != 8 * weights.block_bytes || (k + block - 1) / block != weights.blocks) continue;
      packed = true;
      const oracle::Shape shape{1, weights.n, k, bits, block};
      const std::size_t row = shape.zero_point_row_bytes();
      if (zero_points != nullptr &&
          fixtures::element_count(zero_points->shape).value_or(0) != weights.n * row)
        continue;
      found.push_back(fmt::format("bits={},block={}", bits, block));
    }
  }
  if (!packed)
    refuse(offer.need("b"),
           fmt::format("{} blocks of {} bytes are no packing of rows of {} codes of 2, 4 or 8 bits in blocks "
                       "of 16 to 256",
                       weights.blocks, weights.block_bytes, k));
  if (found.empty())
    refuse(*zero_points, fmt::format("its shape is {}; packed zero points of {} x {} blocks are bytes [{}, "
                                     "ceil({} * bits / 8)]",
                                     fixtures::shape_text(zero_points->shape), weights.n, weights.blocks,
                                     weights.n, weights.blocks));
  return found;
}

/// The schedules that are defined for the model, the packing and the shape (schedules.md).
std::vector<std::string> schedules(Format model, bool int4_of_32, std::size_t m, std::size_t k) {
  std::vector<std::string> found;
  if (int4_of_32 && model != Format::fp32 && m <= 8)
    for (const char* split : {"2", "8"}) found.push_back(fmt::format("schedule=split_k,split={}", split));
  if (int4_of_32 && model == Format::fp16 && m == 1 && k % 32 == 0) {
    found.emplace_back("schedule=multicol");
    for (const char* form : {"0", "1"}) found.push_back(fmt::format("schedule=natural,interleaved={}", form));
  }
  found.emplace_back("schedule=tile");
  if (model != Format::fp32)
    for (const char* cores : {"hopper", "ampere"})
      found.push_back(fmt::format("schedule=mma,cores={}", cores));
  return found;
}

/// The token, which says every contract, defaults too; parse has nothing against it.
std::string checked(std::string token) {
  (void)parse(token);
  return token;
}

}  // namespace

std::vector<std::string> readings(std::span<const OfferedTensor> tensors, std::string_view fixed) {
  const Offer offer("matmul_nbits", tensors, {"a", "b", "scales", "zero_points", "bias", "y"});
  const OfferedTensor& a = offer.need("a");
  const auto [m, k] = matrix_of(a);
  if (m == 0 || k == 0) refuse(a, "it has no elements");
  const Weights weights = weights_of(offer);
  check_shape(offer, "bias", {weights.n});
  check_shape(offer, "y", {m, weights.n});
  (void)formats_of(offer, {"b", "zero_points"}, {Format::uint4});
  const auto models =
      formats_of(offer, {"a", "scales", "bias", "y"}, {Format::bf16, Format::fp16, Format::fp32});

  std::vector<std::string> all;
  for (const Format model : models) {
    for (const std::string& packing : packings(offer, weights, k)) {
      const auto more = combinations(
          {{fmt::format("model={}", formats::spec(model).name)},
           schedules(model, packing == "bits=4,block=32", m, k),
           offer.find("bias") != nullptr ? parts("bias", {"once", "twice"}) : parts("bias", {"none"}),
           parts("zp", {offer.find("zero_points") != nullptr ? "packed" : "none"}),
           {packing},
           parts("judge", {"bits", "bound"})});
      all.insert(all.end(), more.begin(), more.end());
    }
  }
  std::vector<std::string> tokens;
  for (const std::string& one : agreeing(
           all, fixed,
           {"model", "schedule", "split", "cores", "bias", "zp", "bits", "block", "interleaved", "judge"}))
    tokens.push_back(checked(fmt::format("matmul_nbits:{},m={},n={},k={}", one, m, weights.n, k)));
  return tokens;
}

std::string tells_apart(std::string_view key) {
  if (key == "schedule" || key == "split")
    return "long rows (k of 1,024 and more) whose products differ in size, so that sums round";
  if (key == "cores") return "products of very different sizes within 16 elements, which alignment cuts off";
  if (key == "bias") return "sums that fp16 rounds, and a bias of their size";
  if (key == "model") return "a and scales in a type of their own (F16, BF16)";
  if (key == "bits" || key == "block") return "more than one block a row";
  if (key == "zp") return "zero points other than 2^(bits - 1)";
  if (key == "interleaved") return "codes that differ within 8 neighbours";
  return {};
}

}  // namespace assay::properties::matmul_nbits
