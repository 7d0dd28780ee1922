#include "properties/decode/int4_matrix.hpp"

#include <bit>
#include <cassert>
#include <cstring>

#include "fixtures/tensor/generator.hpp"
#include "oracles/formats/format.hpp"

namespace assay::properties::decode {
namespace {

using kernels::Device;
using kernels::matmul_nbits::Problem;
using kernels::matmul_nbits::TensorCores;

std::unique_ptr<kernels::DeviceBuffer> uploaded(Device& device, std::string name,
                                                std::span<const std::byte> bytes) {
  auto buffer = device.allocate(std::move(name), bytes.size(), 256);
  buffer->upload(bytes);
  return buffer;
}

std::uint64_t counter(const kernels::Witness& witness, const std::string& name) {
  const auto found = witness.counters.find(name);
  return found == witness.counters.end() ? 0 : found->second;
}

}  // namespace

std::vector<std::byte> random_bytes(std::size_t bytes, std::uint64_t seed, std::uint64_t stream) {
  const auto low = [](std::uint64_t word) { return static_cast<std::uint32_t>(word); };
  const auto high = [](std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); };
  std::vector<std::byte> result(bytes);
  for (std::size_t at = 0; at < bytes; at += 16) {
    const std::uint64_t index = at / 16;
    const auto words =
        fixtures::philox4x32({low(index), high(index), low(stream), high(stream)}, {low(seed), high(seed)});
    std::memcpy(result.data() + at, words.data(), std::min<std::size_t>(16, bytes - at));
  }
  return result;
}

std::vector<Code16> random_bf16(std::size_t count, int lowest, int highest, std::uint64_t seed,
                                std::uint64_t stream) {
  const int bias = formats::spec(formats::Format::bf16).bias;
  assert(lowest + bias >= 1 && lowest <= highest && highest <= bias && highest - lowest < 256);
  const std::vector<std::byte> bytes = random_bytes(count * sizeof(Code16), seed, stream);
  std::vector<Code16> codes(count);
  std::memcpy(codes.data(), bytes.data(), bytes.size());
  const auto binades = static_cast<unsigned>(highest - lowest + 1);
  for (Code16& code : codes) {
    // Sign and mantissa stay; the eight bits between them choose the exponent.
    const unsigned exponent = static_cast<unsigned>(lowest + bias) + ((code >> 7 & 0xFFu) * binades >> 8);
    code = static_cast<Code16>((code & 0x807Fu) | exponent << 7);
  }
  return codes;
}

int scale_exponent(std::int64_t k) {
  assert(k > 0);
  return -3 - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(k)) / 2);
}

std::span<const std::byte> bytes_of(const std::vector<Code16>& codes) {
  return std::as_bytes(std::span(codes));
}

Int4Matrix::Int4Matrix(Device& device, const std::string& name, std::int64_t n, std::int64_t k,
                       std::uint64_t seed, std::uint64_t stream)
    : n_(n), k_(k) {
  const auto rows = static_cast<std::size_t>(n);
  const auto blocks = static_cast<std::size_t>((k + weight_block - 1) / weight_block);
  const int exponent = scale_exponent(k);
  weights_ = uploaded(device, name + ", weights",
                      random_bytes(rows * blocks * weight_block * weight_bits / 8, seed, 3 * stream));
  const auto scales = random_bf16(rows * blocks, exponent - 1, exponent, seed, 3 * stream + 1);
  std::vector<Code16> positive(scales);
  for (Code16& code : positive) code &= 0x7FFFu;
  scales_ = uploaded(device, name + ", scales", bytes_of(positive));
  // From 6 to 9: around the middle of the codes, so that a block has weights of both signs.
  auto zero_points = random_bytes(rows * ((blocks * weight_bits + 7) / 8), seed, 3 * stream + 2);
  for (std::byte& pair : zero_points)
    pair = static_cast<std::byte>(std::to_integer<unsigned>(pair & std::byte{0x33}) + 0x66u);
  zero_points_ = uploaded(device, name + ", zero points", zero_points);
}

Problem Int4Matrix::node(std::int64_t m, const void* a, void* y, unsigned k_split,
                         TensorCores tensor_cores) const {
  Problem problem;
  problem.a = a;
  problem.b = static_cast<const std::uint8_t*>(weights_->data());
  problem.scales = scales_->data();
  problem.zero_points = static_cast<const std::uint8_t*>(zero_points_->data());
  problem.y = y;
  problem.m = m;
  problem.n = n_;
  problem.k = k_;
  problem.bits = weight_bits;
  problem.block = weight_block;
  problem.model = kernels::matmul_nbits::Model::bf16;
  problem.schedule = kernels::matmul_nbits::schedule_of_node(m, k_, weight_bits, weight_block);
  problem.tensor_cores = tensor_cores;
  problem.k_split = k_split;
  return problem;
}

TensorCores tensor_cores_of(const Device& device) {
  return device.capability().sm >= 90 ? TensorCores::hopper : TensorCores::ampere;
}

Casts& Casts::operator+=(const Casts& more) {
  nodes += more.nodes;
  launches += more.launches;
  casts += more.casts;
  cast_launches += more.cast_launches;
  accepted += more.accepted;
  withheld += more.withheld;
  return *this;
}

Casts casts_of(const kernels::Witness& witness, std::uint64_t nodes) {
  return {nodes,
          witness.launches.size(),
          counter(witness, "cast.launches"),
          witness.launches_of("narrow_staging"),
          counter(witness, "direct_store.accepted"),
          counter(witness, "direct_store.withheld")};
}

}  // namespace assay::properties::decode
