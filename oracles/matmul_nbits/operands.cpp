#include "oracles/matmul_nbits/operands.hpp"

#include <cassert>

#include "oracles/formats/codec.hpp"

namespace assay::oracles::matmul_nbits {
namespace {

using formats::Format;

/// Code `index` of a packed array: `bits` bits from bit index * bits on, least significant first. Codes of 2,
/// 4 and 8 bits never cross a byte.
unsigned packed(std::span<const std::byte> bytes, std::size_t index, std::size_t bits) {
  const std::size_t bit = index * bits;
  return std::to_integer<unsigned>(bytes[bit / 8]) >> (bit % 8) & ((1u << bits) - 1);
}

/// The elements of K that are left when the last ones are dropped.
std::size_t terms_left(const Shape& shape, const Departure& departure) {
  if (departure.is(Fault::last_block_dropped)) return (shape.blocks() - 1) * shape.block;
  if (!departure.is(Fault::tail_dropped)) return shape.k;
  constexpr std::size_t group = 8;
  const std::size_t unit = shape.k % group != 0 ? group : shape.block;
  return shape.k / unit * unit;
}

/// The code of 1.
std::uint32_t one(Format model) { return formats::encode(model, formats::Exact::finite(false, 1, 0)); }

}  // namespace

Decoder::Decoder(Format model, const Shape& shape, const Operands& operands, Departure departure)
    : model_(model),
      bytes_(formats::storage_bytes(model)),
      shape_(shape),
      operands_(operands),
      departure_(departure),
      terms_(terms_left(shape, departure)) {
  assert(model == Format::fp16 || model == Format::bf16 || model == Format::fp32);
  assert(shape.bits == 2 || shape.bits == 4 || shape.bits == 8);
  assert(shape.block >= 16 && shape.block <= 256 && (shape.block & (shape.block - 1)) == 0);
  assert(shape.m > 0 && shape.n > 0 && shape.k > 0);
  [[maybe_unused]] const auto bytes = static_cast<std::size_t>(bytes_);
  assert(operands.a.size() == shape.m * shape.k * bytes);
  assert(operands.b.size() == shape.n * shape.row_bytes());
  assert(operands.scales.size() == shape.n * shape.blocks() * bytes);
  assert(operands.zero_points.empty() ||
         operands.zero_points.size() == shape.n * shape.zero_point_row_bytes());
  assert(operands.bias.empty() || operands.bias.size() == shape.n * bytes);
}

std::uint32_t Decoder::a(std::size_t row, std::size_t k) const {
  return arithmetic::load_code(operands_.a, bytes_, row * shape_.k + k);
}

std::optional<std::uint32_t> Decoder::bias(std::size_t col) const {
  if (operands_.bias.empty() || departure_.is(Fault::bias_dropped)) return std::nullopt;
  return arithmetic::load_code(operands_.bias, bytes_, col);
}

int Decoder::zero(std::size_t col, std::size_t block) const {
  if (departure_.is(Fault::zero_point_ignored) || departure_.is(Fault::codes_signed)) return 0;
  if (operands_.zero_points.empty() || departure_.is(Fault::zero_point_default))
    return 1 << (shape_.bits - 1);
  if (departure_.is(Fault::zero_points_not_padded))
    return static_cast<int>(packed(operands_.zero_points, col * shape_.blocks() + block, shape_.bits));
  const std::size_t row_bytes = shape_.zero_point_row_bytes();
  const std::size_t partner = block ^ 1;
  if (departure_.is(Fault::zero_points_swapped) && partner < row_bytes * 8 / shape_.bits) block = partner;
  return static_cast<int>(
      packed(operands_.zero_points.subspan(col * row_bytes, row_bytes), block, shape_.bits));
}

std::uint32_t Decoder::scale(std::size_t col, std::size_t block) const {
  if (departure_.is(Fault::scale_ignored)) return one(model_);
  std::size_t place = col * shape_.blocks() + block;
  if (departure_.is(Fault::scale_of_next_block) && place + 1 < shape_.n * shape_.blocks()) ++place;
  if (departure_.is(Fault::scales_transposed)) place = block * shape_.n + col;
  return arithmetic::load_code(operands_.scales, bytes_, place);
}

void Decoder::decode(std::size_t col, Column& column) const {
  const std::size_t bits = shape_.bits;
  const std::size_t stride =
      departure_.is(Fault::row_stride_without_padding) ? shape_.k * bits / 8 : shape_.row_bytes();
  const std::size_t swap = departure_.is(Fault::nibbles_swapped) ? 8 / bits - 1 : 0;
  const int taken_off = departure_.is(Fault::code_off_by_one) ? 1 : 0;
  const int sign_from = departure_.is(Fault::codes_signed) ? 1 << (bits - 1) : 1 << bits;
  const auto row = operands_.b.subspan(col * stride);
  column.codes.resize(terms_);
  for (std::size_t k = 0; k < terms_; ++k) {
    const int code = static_cast<int>(packed(row, k ^ swap, bits)) - taken_off;
    column.codes[k] = static_cast<std::int16_t>(code >= sign_from ? code - (1 << bits) : code);
  }
  column.zeros.resize(shape_.blocks());
  column.scales.resize(shape_.blocks());
  for (std::size_t block = 0; block < shape_.blocks(); ++block) {
    column.zeros[block] = static_cast<std::int16_t>(zero(col, block));
    column.scales[block] = scale(col, block);
  }
}

bool decoding_departs(const Departure& departure, const Shape& shape, const Operands& operands) {
  if (!departure.fault) return false;
  const bool zero_points = !operands.zero_points.empty();
  switch (*departure.fault) {
    case Fault::nibbles_swapped:
      return shape.bits < 8;
    case Fault::zero_point_default:
      return zero_points;
    case Fault::zero_points_swapped:
      return zero_points && shape.bits < 8;
    case Fault::zero_points_not_padded:
      return zero_points && shape.n > 1 && shape.blocks() * shape.bits % 8 != 0;
    case Fault::row_stride_without_padding:
      return shape.n > 1 && shape.k % shape.block != 0;
    case Fault::scale_of_next_block:
      return shape.n * shape.blocks() > 1;
    case Fault::scales_transposed:
      return shape.n > 1 && shape.blocks() > 1;
    case Fault::tail_dropped:
      return terms_left(shape, departure) != shape.k;
    case Fault::bias_dropped:
      return !operands.bias.empty();
    default:
      return true;
  }
}

}  // namespace assay::oracles::matmul_nbits
