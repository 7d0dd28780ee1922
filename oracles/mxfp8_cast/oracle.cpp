#include "oracles/mxfp8_cast/oracle.hpp"

#include <algorithm>
#include <array>
#include <cassert>
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
  std::size_t nans = 0;
  bool infinity = false;
};

Survey survey(std::span<const Exact, block> elements) {
  Survey found;
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
  const bool only_nan = found.nans == block;
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

/// Everything accept() works on; the blocks of all rows are numbered through.
struct Work {
  std::span<const std::byte> x;
  Shape shape;
  Contracts contracts;
  Fault fault;
  std::span<std::byte> data, scales;
};

template <Format input, Format element>
void cast_blocks(const Work& work, std::size_t begin, std::size_t end) {
  constexpr Spec input_spec = definition::spec_of(input), element_spec = definition::spec_of(element);
  constexpr int bytes = input_spec.bits / 8;
  const std::size_t per_row = work.shape.blocks_per_row();
  for (std::size_t b = begin; b < end; ++b) {
    const std::byte* in = work.x.data() + b * block * bytes;
    std::byte* out = work.data.data() + b * block;
    std::array<Exact, block> elements;
    for (std::size_t i = 0; i < block; ++i)
      elements[i] = definition::decode(input_spec, load<bytes>(in + i * bytes));
    const Survey found = survey(elements);
    const std::uint8_t scale = scale_byte_of(found, work.contracts, work.fault);
    work.scales[b / per_row * work.shape.scale_stride + b % per_row] = std::byte{scale};
    const Fault fault = fault_in(found, work.fault);
    for (std::size_t i = 0; i < block; ++i)
      out[i] = std::byte{element_of(element_spec, elements[i], scale, fault)};
  }
}

template <Format input>
void cast_blocks(const Work& work, std::size_t begin, std::size_t end) {
  if (work.contracts.element == Format::e4m3) return cast_blocks<input, Format::e4m3>(work, begin, end);
  return cast_blocks<input, Format::e5m2>(work, begin, end);
}

void cast_blocks(Format input, const Work& work, std::size_t begin, std::size_t end) {
  switch (input) {
    case Format::fp32:
      return cast_blocks<Format::fp32>(work, begin, end);
    case Format::fp16:
      return cast_blocks<Format::fp16>(work, begin, end);
    case Format::bf16:
      return cast_blocks<Format::bf16>(work, begin, end);
    default:
      assert(false && "the cast takes fp32, fp16 or bf16");
  }
}

/// The elements of a scale buffer outside [rows, cols/32], as ranges.
std::vector<arithmetic::ElementRange> padding_of(const Shape& shape) {
  std::vector<arithmetic::ElementRange> ranges;
  const auto add = [&ranges](std::size_t begin, std::size_t end) {
    if (begin == end) return;
    if (!ranges.empty() && ranges.back().end == begin) {
      ranges.back().end = end;
    } else {
      ranges.push_back({begin, end});
    }
  };
  for (std::size_t row = 0; row < shape.rows; ++row)
    add(row * shape.scale_stride + shape.blocks_per_row(), (row + 1) * shape.scale_stride);
  add(shape.rows * shape.scale_stride, shape.scale_rows * shape.scale_stride);
  return ranges;
}

}  // namespace

std::uint8_t scale_byte(Format input, std::span<const std::uint32_t, block> codes, const Contracts& contracts,
                        Fault fault) {
  std::array<Exact, block> elements;
  for (std::size_t i = 0; i < block; ++i) elements[i] = formats::decode(input, codes[i]);
  return scale_byte_of(survey(elements), contracts, fault);
}

std::uint8_t element_code(Format input, std::uint32_t code, std::uint8_t scale, const Contracts& contracts,
                          Fault fault) {
  return element_of(formats::spec(contracts.element), formats::decode(input, code), scale, fault);
}

CastAcceptance accept(Format input, std::span<const std::byte> x, const Shape& shape,
                      const Contracts& contracts, Fault fault, unsigned threads) {
  assert(contracts.element == Format::e4m3 || contracts.element == Format::e5m2);
  assert(shape.cols % block == 0);
  assert(shape.scale_rows >= shape.rows && shape.scale_stride >= shape.blocks_per_row());
  assert(x.size() == shape.rows * shape.cols * static_cast<std::size_t>(formats::storage_bytes(input)));

  CastAcceptance result;
  result.data.format = contracts.element;
  result.data.nan =
      arithmetic::NanRule::canonical;  // 0x7F for either sign, as the conversion instructions give it
  result.data.lo.resize(shape.rows * shape.cols);
  result.scales.format = Format::e8m0;
  result.scales.lo.resize(shape.scale_rows *
                          shape.scale_stride);  // zero, which is also the contract for padding
  if (contracts.padding == Padding::untouched) result.scales.untouched = padding_of(shape);

  const Work work{x, shape, contracts, fault, result.data.lo, result.scales.lo};
  const std::size_t blocks = shape.rows * shape.blocks_per_row();
  const std::size_t shares = std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(blocks, 1));
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < shares; ++i)
    others.emplace_back([&, i] { cast_blocks(input, work, blocks * i / shares, blocks * (i + 1) / shares); });
  cast_blocks(input, work, 0, blocks / shares);
  others.clear();  // joins
  return result;
}

}  // namespace assay::oracles::mxfp8_cast
