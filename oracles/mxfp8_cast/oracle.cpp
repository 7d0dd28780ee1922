#include "oracles/mxfp8_cast/oracle.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <thread>
#include <vector>

#include "oracles/formats/definition.hpp"
#include "oracles/mxfp8_cast/scale_rule.hpp"

namespace assay::oracles::mxfp8_cast {
namespace {

namespace definition = formats::definition;
using formats::Exact;
using formats::Format;
using formats::Kind;
using formats::Overflow;
using formats::Rounding;
using formats::Spec;

constexpr std::uint8_t nan_scale = 0xFF;
constexpr std::uint8_t largest_scale = 0xFE;

/// What the scale of a block depends on.
struct Survey {
  Exact amax = Exact::zero();  ///< over the finite elements
  std::size_t elements = 0, nans = 0;
  bool infinity = false;
};

Survey survey(std::span<const Exact> elements, Fault fault) {
  if (fault == Fault::last_left_out_of_amax) elements = elements.first(elements.size() - 1);
  Survey found;
  found.elements = elements.size();
  for (const Exact& x : elements) {
    if (x.kind == Kind::nan) {
      ++found.nans;
    } else if (x.kind == Kind::infinity) {
      found.infinity = true;
    } else if (formats::compare_magnitude(x, found.amax) > 0) {
      found.amax = x;
    }
  }
  found.amax.negative = false;
  return found;
}

/// The scale byte that the special-block contract pins, or -1 where the scale rule decides.
int special_scale(const Survey& found, SpecialBlocks contract, bool nan_dropped) {
  const bool only_nan = found.nans == found.elements;
  switch (contract) {
    case SpecialBlocks::poison:
      return found.infinity || (found.nans > 0 && !nan_dropped) ? nan_scale : -1;
    case SpecialBlocks::te_staged:
      return found.infinity ? largest_scale : only_nan ? 0 : -1;
    case SpecialBlocks::te_register:
      return found.infinity ? largest_scale : only_nan && !nan_dropped ? nan_scale : -1;
  }
  assert(false && "unknown special-block contract");
  return -1;
}

std::uint8_t scale_byte_of(const Survey& found, const Contracts& contracts, Fault fault) {
  const int special = special_scale(found, contracts.specials, fault == Fault::nan_dropped_by_max);
  int byte = special >= 0
                 ? special
                 : scale_exponent(found.amax, contracts.element, contracts.scale_rule, fault) + scale_bias;
  // A scale that is one off stays a number: NaN has no neighbour, and the ends have one each.
  if (byte != nan_scale && fault == Fault::scale_one_up) byte = std::min<int>(byte + 1, largest_scale);
  if (byte != nan_scale && fault == Fault::scale_one_down) byte = std::max(byte - 1, 0);
  return static_cast<std::uint8_t>(byte);
}

/// x * 2^(127 - scale), exactly. The reciprocal of a scale code is that power of two, also where it is
/// subnormal in fp32 (code 254) or far from 1 (code 0).
Exact descaled(const Exact& x, std::uint8_t scale) { return formats::scaled(x, scale_bias - scale); }

/// As descaled, by a kernel that gets a reciprocal wrong.
Exact descaled_with(Fault fault, const Exact& x, std::uint8_t scale) {
  if (fault == Fault::reciprocal_254_flushed && scale == largest_scale && x.kind != Kind::nan)
    return x.kind == Kind::infinity ? Exact::nan() : Exact::zero(x.negative);
  if (fault == Fault::reciprocal_0_is_one && scale == 0) return x;
  if (fault == Fault::zero_block_nan && scale == 0 && x.kind == Kind::zero) return Exact::nan();
  return descaled(x, scale);
}

/// The element code of a scaled value, encoded by a kernel that gets the rounding or a special value wrong.
std::uint32_t encoded_with(Fault fault, const Spec& element, Exact x) {
  switch (fault) {
    case Fault::element_truncated:
      return definition::encode(element, x, Rounding::toward_zero, Overflow::saturate);
    case Fault::element_overflow_to_nan:
      return definition::encode(element, x, Rounding::nearest_even, Overflow::propagate);
    case Fault::element_ties_away:
      if (x.kind == Kind::finite) {
        // A tie moved up by an infinitesimal is no tie, and nothing else changes. Input significands have at
        // most 24 bits, so there is room to put the infinitesimal under every one of them.
        x = Exact::finite(x.negative, x.significand << 32, x.exponent - 32, true);
      }
      break;
    case Fault::element_through_fp16: {
      const Spec& fp16 = definition::spec_of(Format::fp16);
      x = definition::decode(fp16, definition::encode(fp16, x, Rounding::nearest_even, Overflow::propagate));
      break;
    }
    default:
      break;
  }
  const std::uint32_t code = definition::encode(element, x, Rounding::nearest_even, Overflow::saturate);
  const std::uint32_t magnitude = code & definition::magnitude_mask(element);
  if (fault == Fault::element_zero_sign_lost && magnitude == 0) return 0;
  if (fault == Fault::element_subnormal_flushed && magnitude >> element.mantissa_bits == 0)
    return code & definition::sign_bit(element);
  return code;
}

[[gnu::always_inline]] inline std::uint8_t element_of(const Spec& element, const Exact& x, std::uint8_t scale,
                                                      Fault fault) {
  if (scale == nan_scale) return static_cast<std::uint8_t>(definition::canonical_nan(element));
  if (fault != Fault::none)
    return static_cast<std::uint8_t>(encoded_with(fault, element, descaled_with(fault, x, scale)));
  return static_cast<std::uint8_t>(
      definition::encode(element, descaled(x, scale), Rounding::nearest_even, Overflow::saturate));
}

/// The fault a block shows: 0/0 needs a block of zeros, and a scale of 0 alone does not say that it is one.
Fault fault_in(const Survey& found, Fault fault) {
  return fault == Fault::zero_block_nan && found.amax.kind != Kind::zero ? Fault::none : fault;
}

template <int bytes>
std::uint32_t load(const std::byte* at) {
  std::uint32_t code = 0;
  for (int i = 0; i < bytes; ++i) code |= std::to_integer<std::uint32_t>(at[i]) << (8 * i);
  return code;
}

/// Everything accept() works on.
struct Work {
  std::span<const std::byte> x;
  Shape shape;
  ScaleMatrix scale_matrix;
  Direction direction;
  Contracts contracts;
  Fault fault;
  std::span<std::byte> data, scales;
};

using BlockCodes = std::array<std::uint32_t, block>;
using BlockData = std::array<std::uint8_t, block>;

/// One block of `count` elements: fills as many of `out` and returns the scale byte.
template <Format input, Format element>
[[gnu::always_inline]] inline std::uint8_t cast_block(const Work& work, const BlockCodes& codes,
                                                      std::size_t count, BlockData& out) {
  constexpr Spec input_spec = definition::spec_of(input), element_spec = definition::spec_of(element);
  std::array<Exact, block> elements;
  for (std::size_t i = 0; i < count; ++i) elements[i] = definition::decode(input_spec, codes[i]);
  const Survey found = survey(std::span(elements).first(count), work.fault);
  const std::uint8_t scale = scale_byte_of(found, work.contracts, work.fault);
  const Fault fault = fault_in(found, work.fault);
  for (std::size_t i = 0; i < count; ++i) out[i] = element_of(element_spec, elements[i], scale, fault);
  return scale;
}

/// Block `b`, numbered row by row.
template <Format input, Format element>
void cast_row_block(const Work& work, std::size_t b) {
  constexpr int bytes = definition::spec_of(input).bits / 8;
  const std::size_t per_row = work.shape.blocks_per_row();
  const std::byte* in = work.x.data() + b * block * bytes;
  BlockCodes codes;
  for (std::size_t i = 0; i < block; ++i) codes[i] = load<bytes>(in + i * bytes);
  BlockData out;
  const std::uint8_t scale = cast_block<input, element>(work, codes, block, out);
  std::memcpy(work.data.data() + b * block, out.data(), block);
  work.scales[work.scale_matrix.index(b / per_row, b % per_row)] = std::byte{scale};
}

/// The 32 blocks under each other's side in 32 columns, so that X and the data are passed over in whole lines
/// of memory; tiles are numbered row by row.
template <Format input, Format element>
void cast_column_tile(const Work& work, std::size_t tile) {
  constexpr int bytes = definition::spec_of(input).bits / 8;
  const std::size_t per_row = work.shape.blocks_per_row(), cols = work.shape.cols;
  const std::size_t band = tile / per_row, first_row = band * block, first_col = tile % per_row * block;
  const std::size_t height = std::min(block, work.shape.rows - first_row);
  std::array<BlockCodes, block> columns;
  for (std::size_t r = 0; r < height; ++r) {
    const std::byte* in = work.x.data() + ((first_row + r) * cols + first_col) * bytes;
    for (std::size_t c = 0; c < block; ++c) columns[c][r] = load<bytes>(in + c * bytes);
  }
  std::array<BlockData, block> out;
  for (std::size_t c = 0; c < block; ++c) {
    const std::uint8_t scale = height == block ? cast_block<input, element>(work, columns[c], block, out[c])
                                               : cast_block<input, element>(work, columns[c], height, out[c]);
    work.scales[work.scale_matrix.index(band, first_col + c)] = std::byte{scale};
  }
  for (std::size_t r = 0; r < height; ++r) {
    std::byte* to = work.data.data() + (first_row + r) * cols + first_col;
    for (std::size_t c = 0; c < block; ++c) to[c] = std::byte{out[c][r]};
  }
}

/// What threads share out: blocks of a row, or tiles of 32 x 32.
std::size_t parts(const Work& work) {
  const Shape& shape = work.shape;
  return (work.direction == Direction::rowwise ? shape.rows : shape.bands()) * shape.blocks_per_row();
}

template <Format input, Format element>
void cast_parts(const Work& work, std::size_t begin, std::size_t end) {
  for (std::size_t part = begin; part < end; ++part) {
    if (work.direction == Direction::rowwise) {
      cast_row_block<input, element>(work, part);
    } else {
      cast_column_tile<input, element>(work, part);
    }
  }
}

template <Format input>
void cast_parts(const Work& work, std::size_t begin, std::size_t end) {
  if (work.contracts.element == Format::e4m3) return cast_parts<input, Format::e4m3>(work, begin, end);
  return cast_parts<input, Format::e5m2>(work, begin, end);
}

void cast_parts(Format input, const Work& work, std::size_t begin, std::size_t end) {
  switch (input) {
    case Format::fp32:
      return cast_parts<Format::fp32>(work, begin, end);
    case Format::fp16:
      return cast_parts<Format::fp16>(work, begin, end);
    case Format::bf16:
      return cast_parts<Format::bf16>(work, begin, end);
    default:
      assert(false && "the cast takes fp32, fp16 or bf16");
  }
}

/// The bytes of a scale buffer that are no scale's place, as ranges.
std::vector<arithmetic::ElementRange> padding_of(const ScaleMatrix& scales) {
  std::vector<arithmetic::ElementRange> ranges;
  if (scales.bytes() == scales.rows() * scales.cols()) return ranges;
  for (std::size_t i = 0; i < scales.bytes(); ++i) {
    if (scales.place(i)) continue;
    if (!ranges.empty() && ranges.back().end == i) {
      ++ranges.back().end;
    } else {
      ranges.push_back({i, i + 1});
    }
  }
  return ranges;
}

}  // namespace

std::uint8_t scale_byte(Format input, std::span<const std::uint32_t> codes, const Contracts& contracts,
                        Fault fault) {
  assert(!codes.empty() && codes.size() <= block);
  std::array<Exact, block> elements;
  for (std::size_t i = 0; i < codes.size(); ++i) elements[i] = formats::decode(input, codes[i]);
  return scale_byte_of(survey(std::span(elements).first(codes.size()), fault), contracts, fault);
}

std::uint8_t element_code(Format input, std::uint32_t code, std::uint8_t scale, const Contracts& contracts,
                          Fault fault) {
  return element_of(formats::spec(contracts.element), formats::decode(input, code), scale, fault);
}

CastAcceptance accept(Format input, std::span<const std::byte> x, const Shape& shape, Direction direction,
                      const Contracts& contracts, Fault fault, unsigned threads) {
  assert(contracts.element == Format::e4m3 || contracts.element == Format::e5m2);
  assert(shape.cols % block == 0);
  assert(x.size() == shape.rows * shape.cols * static_cast<std::size_t>(formats::storage_bytes(input)));

  const ScaleMatrix scale_matrix(shape, direction, contracts.layout);
  CastAcceptance result;
  result.data.format = contracts.element;
  result.data.nan =
      arithmetic::NanRule::canonical;  // 0x7F for either sign, as the conversion instructions give it
  result.data.lo.resize(shape.rows * shape.cols);
  result.scales.format = Format::e8m0;
  result.scales.lo.resize(scale_matrix.bytes());  // zero, which is also the contract for padding
  if (contracts.padding == Padding::untouched) result.scales.untouched = padding_of(scale_matrix);

  const Work work{x, shape, scale_matrix, direction, contracts, fault, result.data.lo, result.scales.lo};
  const std::size_t all = parts(work);
  const std::size_t shares = std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(all, 1));
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < shares; ++i)
    others.emplace_back([&, i] { cast_parts(input, work, all * i / shares, all * (i + 1) / shares); });
  cast_parts(input, work, 0, all / shares);
  others.clear();  // joins
  return result;
}

}  // namespace assay::oracles::mxfp8_cast
