// What tensors can be of a cast: types and extents say the formats, the direction and the layout of scales;
// the rest of the contracts is open.
#include "properties/mxfp8_cast/readings.hpp"

#include <fmt/core.h>

#include "fixtures/files/messages.hpp"
#include "properties/exchange/readings.hpp"
#include "properties/mxfp8_cast/point.hpp"

namespace assay::properties::mxfp8_cast {
namespace {

using formats::Format;
using oracle::Direction;
using oracle::ScaleExtent;

/// The extents that scales of the layout can have in the tensor; without one the smallest.
std::vector<ScaleExtent> extents(const oracle::Shape& shape, Direction direction, bool swizzled,
                                 const OfferedTensor* scales) {
  const ScaleExtent least = swizzled ? shape.swizzled(direction) : shape.scales(direction);
  if (scales == nullptr) return {least};
  const auto [rows, stride] = matrix_of(*scales);
  if (scales->shape.size() == 1 && stride == least.rows * least.stride) return {least};
  const bool fits =
      swizzled ? rows == least.rows && stride == least.stride : rows >= least.rows && stride >= least.stride;
  if (fits) return {{rows, stride}};
  return {};
}

/// "scales=linear,srows=4,stride=4" for every way in which the tensors of a direction can lie.
std::vector<std::string> layouts(const Offer& offer, const oracle::Shape& shape, bool rowwise, bool colwise) {
  std::vector<std::string> found;
  const OfferedTensor *row_scales = rowwise ? offer.find("scales") : nullptr,
                      *col_scales = colwise ? offer.find("scales colwise") : nullptr;
  for (const bool swizzled : {false, true}) {
    const auto rows = extents(shape, Direction::rowwise, swizzled, row_scales);
    const auto cols = extents(shape, Direction::colwise, swizzled, col_scales);
    if (rows.empty() || cols.empty()) continue;
    std::string part = fmt::format("scales={}", swizzled ? "swizzled" : "linear");
    if (rowwise) part += fmt::format(",srows={},stride={}", rows[0].rows, rows[0].stride);
    if (colwise) part += fmt::format(",csrows={},cstride={}", cols[0].rows, cols[0].stride);
    found.push_back(std::move(part));
  }
  return found;
}

[[noreturn]] void refuse_scales(const Offer& offer, const oracle::Shape& shape) {
  const auto text = [](const ScaleExtent& extent) {
    return fmt::format("[{}, {}]", extent.rows, extent.stride);
  };
  for (const auto& [name, direction] :
       {std::pair("scales", Direction::rowwise), {"scales colwise", Direction::colwise}}) {
    const OfferedTensor* scales = offer.find(name);
    if (scales == nullptr || !extents(shape, direction, false, scales).empty() ||
        !extents(shape, direction, true, scales).empty())
      continue;
    refuse(*scales, fmt::format("its shape is {}; linear scales of {} x {} are {} or wider, swizzled ones {}",
                                fixtures::shape_text(scales->shape), shape.rows, shape.cols,
                                text(shape.scales(direction)), text(shape.swizzled(direction))));
  }
  refuse(offer.need("scales"), "it and 'scales colwise' are of different layouts");
}

/// The token, which says every contract, defaults too; parse has nothing against it.
std::string checked(std::string token) {
  (void)parse(token);
  return token;
}

}  // namespace

std::vector<std::string> readings(std::span<const OfferedTensor> tensors, std::string_view fixed) {
  const Offer offer("mxfp8_cast", tensors, {"x", "data", "scales", "data colwise", "scales colwise"});
  const OfferedTensor& x = offer.need("x");
  const auto [rows, cols] = matrix_of(x);
  if (rows == 0 || cols == 0) refuse(x, "it has no elements");
  if (cols % oracle::block != 0)
    refuse(x, fmt::format("its last dimension {} is not divisible by {}", cols, oracle::block));
  const oracle::Shape shape{rows, cols, {}, {}};
  for (const char* name : {"data", "data colwise"}) check_shape(offer, name, {rows, cols});
  (void)formats_of(offer, {"scales", "scales colwise"}, {Format::e8m0});

  const bool row_there = offer.find("data") != nullptr || offer.find("scales") != nullptr;
  const bool col_there = offer.find("data colwise") != nullptr || offer.find("scales colwise") != nullptr;
  std::vector<std::string> places;
  for (const auto& [name, rowwise, colwise] :
       {std::tuple("rowwise", true, false), {"colwise", false, true}, {"bidimensional", true, true}}) {
    if ((row_there || col_there) && (rowwise != row_there || colwise != col_there)) continue;
    for (const std::string& layout : layouts(offer, shape, rowwise, colwise))
      places.push_back(fmt::format("dir={},{}", name, layout));
  }
  if (places.empty()) refuse_scales(offer, shape);

  const auto all =
      combinations({parts("in", formats_of(offer, {"x"}, {Format::fp32, Format::fp16, Format::bf16})),
                    parts("fp8", formats_of(offer, {"data", "data colwise"}, {Format::e4m3, Format::e5m2})),
                    parts("rule", {"rceil", "floor", "ceil", "even"}),
                    parts("specials", {"poison", "te-staged", "te-register"}),
                    parts("padding", {"untouched", "zero"}), places});
  std::vector<std::string> tokens;
  for (const std::string& one :
       agreeing(all, fixed, {"in", "fp8", "rule", "specials", "padding", "dir", "scales"}))
    tokens.push_back(checked(fmt::format("mxfp8_cast:{},rows={},cols={}", one, rows, cols)));
  return tokens;
}

std::string tells_apart(std::string_view key) {
  if (key == "rule")
    return "blocks whose largest magnitudes have many significands: 1 exactly, just above 1, and on both "
           "sides of 1.5 and 1.75";
  if (key == "specials") return "blocks with a NaN, and blocks with an Inf";
  if (key == "padding") return "scales with padding, that held something else than zero before";
  if (key == "fp8") return "data in a type of its own (F8_E4M3, F8_E5M2), or elements that are not zero";
  if (key == "in") return "x in a type of its own (F16, BF16), or elements that are not zero";
  if (key == "dir") return "data or scales of both directions";
  if (key == "scales")
    return "the tensor 'scales' or 'scales colwise', of more than one block with different scales";
  return {};
}

}  // namespace assay::properties::mxfp8_cast
