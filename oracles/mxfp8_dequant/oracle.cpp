#include "oracles/mxfp8_dequant/oracle.hpp"

#include <algorithm>
#include <cassert>
#include <optional>
#include <thread>
#include <vector>

#include "oracles/formats/definition.hpp"

namespace assay::oracles::mxfp8_dequant {
namespace {

namespace definition = formats::definition;
using formats::Exact;
using formats::Format;
using formats::Kind;
using formats::Overflow;
using formats::Rounding;
using formats::Spec;

constexpr int scale_bias = 127;
constexpr std::uint8_t nan_scale = 0xFF;

/// A number times an infinite or zero scale: what hardware arithmetic would make of the fault.
Exact times_infinity(const Exact& x) {
  return x.kind == Kind::zero || x.kind == Kind::nan ? Exact::nan() : Exact::infinity(x.negative);
}
Exact times_zero(const Exact& x) {
  return x.kind == Kind::infinity || x.kind == Kind::nan ? Exact::nan() : Exact::zero(x.negative);
}

/// The value of a code as if the largest exponent field were one like the others.
Exact decoded_as_number(const Spec& element, std::uint32_t code) {
  const std::uint32_t magnitude = code & definition::magnitude_mask(element);
  const std::uint32_t hidden = 1u << element.mantissa_bits;
  return Exact::finite(
      (code & definition::sign_bit(element)) != 0, hidden | (magnitude & (hidden - 1)),
      static_cast<int>(magnitude >> element.mantissa_bits) - element.bias - element.mantissa_bits);
}

Exact decoded_with(Fault fault, const Spec& element, std::uint32_t code) {
  const Exact x = definition::decode(element, code);
  if (fault == Fault::element_specials_as_numbers && (x.kind == Kind::nan || x.kind == Kind::infinity))
    return decoded_as_number(element, code);
  const bool subnormal = (code & definition::magnitude_mask(element)) >> element.mantissa_bits == 0;
  if (fault == Fault::element_subnormal_flushed && subnormal) return Exact::zero(x.negative);
  return x;
}

/// x * 2^(scale - 127), exactly; NaN under scale 255.
[[gnu::always_inline]] inline Exact product_of(const Exact& x, std::uint8_t scale) {
  return scale == nan_scale ? Exact::nan() : formats::scaled(x, scale - scale_bias);
}

/// The same by a kernel that gets a scale wrong.
Exact product_with(Fault fault, const Exact& x, std::uint8_t scale) {
  switch (fault) {
    case Fault::scale_0_flushed:
      if (scale == 0) return times_zero(x);
      break;
    case Fault::scale_0_is_one:
      if (scale == 0) return x;
      break;
    case Fault::scale_254_infinite:
      if (scale == 254) return times_infinity(x);
      break;
    case Fault::scale_254_flushed:
      if (scale == 254) return times_zero(x);
      break;
    case Fault::scale_255_infinite:
      if (scale == nan_scale) return times_infinity(x);
      break;
    case Fault::scale_255_power:
      if (scale == nan_scale) return formats::scaled(x, nan_scale - scale_bias);
      break;
    case Fault::scale_one_up:
    case Fault::scale_one_down:
      if (scale != nan_scale)
        return formats::scaled(x, scale - scale_bias + (fault == Fault::scale_one_up ? 1 : -1));
      break;
    default:
      break;
  }
  return product_of(x, scale);
}

std::uint32_t encoded_with(Fault fault, const Spec& output, Exact x) {
  if (fault == Fault::product_through_fp16) {
    const Spec& fp16 = definition::spec_of(Format::fp16);
    x = definition::decode(fp16, definition::encode(fp16, x, Rounding::nearest_even, Overflow::propagate));
  }
  // Only a finite product is cut off or held at the largest value: Inf is Inf to such a kernel too.
  const bool finite = x.kind == Kind::finite;
  const Rounding rounding =
      finite && fault == Fault::product_truncated ? Rounding::toward_zero : Rounding::nearest_even;
  const Overflow overflow =
      finite && fault == Fault::product_overflow_saturated ? Overflow::saturate : Overflow::propagate;
  const std::uint32_t code = definition::encode(output, x, rounding, overflow);
  const std::uint32_t magnitude = code & definition::magnitude_mask(output);
  if (fault == Fault::product_sign_of_zero_lost && magnitude == 0) return 0;
  if (fault == Fault::product_subnormal_flushed && magnitude >> output.mantissa_bits == 0)
    return code & definition::sign_bit(output);
  return code;
}

[[gnu::always_inline]] inline std::uint32_t output_of(const Spec& element, const Spec& output,
                                                      std::uint8_t data, std::uint8_t scale, Fault fault) {
  if (fault != Fault::none)
    return encoded_with(fault, output, product_with(fault, decoded_with(fault, element, data), scale));
  return definition::encode(output, product_of(definition::decode(element, data), scale),
                            Rounding::nearest_even, Overflow::propagate);
}

/// Everything accept() works on.
struct Work {
  std::span<const std::byte> data, scales;
  Shape shape;
  ScaleMatrix matrix;
  Fault fault;
  std::optional<Misplacement> misplacement;
  std::span<std::byte> y;
};

/// Index of the scale that the element at (row, col) is given, right or misplaced.
std::size_t scale_place(const Work& work, std::size_t row, std::size_t col) {
  const bool rowwise = work.shape.direction == Direction::rowwise;
  const std::size_t a = rowwise ? row : row / block, b = rowwise ? col / block : col;
  if (work.misplacement) return work.matrix.misplaced(*work.misplacement, a, b) % work.scales.size();
  return work.matrix.index(a, b);
}

template <Format element, Format output>
void dequantise_rows(const Work& work, std::size_t begin, std::size_t end) {
  constexpr Spec element_spec = definition::spec_of(element), output_spec = definition::spec_of(output);
  const std::size_t cols = work.shape.cols;
  for (std::size_t row = begin; row < end; ++row) {
    std::size_t place = 0;
    for (std::size_t col = 0; col < cols; ++col) {
      if (work.shape.direction == Direction::colwise || col % block == 0) place = scale_place(work, row, col);
      const bool swapped = work.fault == Fault::element_pairs_swapped && (col ^ 1) < cols;
      const std::byte data = work.data[row * cols + (swapped ? col ^ 1 : col)];
      arithmetic::store_code(work.y, output_spec.bits / 8, row * cols + col,
                             output_of(element_spec, output_spec, std::to_integer<std::uint8_t>(data),
                                       std::to_integer<std::uint8_t>(work.scales[place]), work.fault));
    }
  }
}

using DequantiseRows = void (*)(const Work&, std::size_t, std::size_t);

template <Format element>
DequantiseRows for_output(Format output) {
  switch (output) {
    case Format::fp32:
      return dequantise_rows<element, Format::fp32>;
    case Format::fp16:
      return dequantise_rows<element, Format::fp16>;
    case Format::bf16:
      return dequantise_rows<element, Format::bf16>;
    default:
      assert(false && "the output is fp32, fp16 or bf16");
      return nullptr;
  }
}

/// The elements of the last blocks, where those hold fewer than 32, as ranges.
std::vector<arithmetic::ElementRange> partial_blocks(const Shape& shape) {
  std::vector<arithmetic::ElementRange> ranges;
  if (shape.direction == Direction::colwise) {
    if (shape.rows % block != 0)
      ranges.push_back({shape.rows / block * block * shape.cols, shape.rows * shape.cols});
  } else if (shape.cols % block != 0) {
    for (std::size_t row = 0; row < shape.rows; ++row)
      ranges.push_back({row * shape.cols + shape.cols / block * block, (row + 1) * shape.cols});
  }
  return ranges;
}

/// The shape as the cast's, whose rows are whole blocks.
mxfp8_cast::Shape of_whole_blocks(const Shape& shape) {
  mxfp8_cast::Shape whole;
  whole.rows = shape.rows;
  whole.cols = shape.cols;
  if (shape.direction == Direction::rowwise) whole.cols = (shape.cols + block - 1) / block * block;
  whole.extent(shape.direction) = {shape.scale_rows, shape.scale_stride};
  return whole;
}

mxfp8_cast::ScaleExtent least_extent(const Shape& shape) {
  const mxfp8_cast::Shape whole = of_whole_blocks(shape);
  return shape.layout == ScaleLayout::linear ? whole.scales(shape.direction)
                                             : whole.swizzled(shape.direction);
}

arithmetic::Acceptance accept_with(std::span<const std::byte> data, std::span<const std::byte> scales,
                                   const Shape& shape, const Contracts& contracts, Fault fault,
                                   std::optional<Misplacement> misplacement, unsigned threads) {
  assert(contracts.element == Format::e4m3 || contracts.element == Format::e5m2);
  assert(data.size() == shape.rows * shape.cols);
  assert(scales.size() == shape.scale_rows * shape.scale_stride);

  arithmetic::Acceptance result;
  result.format = contracts.output;
  result.nan = arithmetic::NanRule::canonical;
  result.lo.resize(data.size() * static_cast<std::size_t>(formats::storage_bytes(contracts.output)));
  if (fault == Fault::last_partial_block_stale) result.untouched = partial_blocks(shape);

  const Work work{data, scales, shape, shape.scale_matrix(), fault, misplacement, result.lo};
  const DequantiseRows dequantise = contracts.element == Format::e4m3
                                        ? for_output<Format::e4m3>(contracts.output)
                                        : for_output<Format::e5m2>(contracts.output);
  const std::size_t shares = std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(shape.rows, 1));
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < shares; ++i)
    others.emplace_back([&, i] { dequantise(work, shape.rows * i / shares, shape.rows * (i + 1) / shares); });
  dequantise(work, 0, shape.rows / shares);
  others.clear();  // joins
  return result;
}

}  // namespace

std::size_t Shape::block_rows() const { return of_whole_blocks(*this).scales(direction).rows; }
std::size_t Shape::block_cols() const { return of_whole_blocks(*this).scales(direction).stride; }
std::size_t Shape::least_scale_rows() const { return least_extent(*this).rows; }
std::size_t Shape::least_scale_stride() const { return least_extent(*this).stride; }
ScaleMatrix Shape::scale_matrix() const { return {of_whole_blocks(*this), direction, layout}; }

std::uint32_t output_code(std::uint8_t data, std::uint8_t scale, const Contracts& contracts, Fault fault) {
  return output_of(formats::spec(contracts.element), formats::spec(contracts.output), data, scale, fault);
}

arithmetic::Acceptance accept(std::span<const std::byte> data, std::span<const std::byte> scales,
                              const Shape& shape, const Contracts& contracts, Fault fault, unsigned threads) {
  return accept_with(data, scales, shape, contracts, fault, std::nullopt, threads);
}

arithmetic::Acceptance accept_misplaced(std::span<const std::byte> data, std::span<const std::byte> scales,
                                        const Shape& shape, const Contracts& contracts, Misplacement how) {
  return accept_with(data, scales, shape, contracts, Fault::none, how, 1);
}

}  // namespace assay::oracles::mxfp8_dequant
