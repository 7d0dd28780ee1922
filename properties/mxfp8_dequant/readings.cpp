// What tensors can be of a dequantisation: the scales' extents say direction and layout.
#include "properties/mxfp8_dequant/readings.hpp"

#include <fmt/core.h>

#include "fixtures/files/messages.hpp"
#include "properties/exchange/readings.hpp"
#include "properties/mxfp8_dequant/point.hpp"

namespace assay::properties::mxfp8_dequant {
namespace {

using formats::Format;

/// "dir=rowwise,layout=linear,srows=4,stride=4" for every way in which the scales can lie.
std::vector<std::string> places(const OfferedTensor& scales, std::size_t rows, std::size_t cols) {
  const auto [scale_rows, stride] = matrix_of(scales);
  std::vector<std::string> found, wanted;
  for (const auto& [direction, direction_name] :
       {std::pair(oracle::Direction::rowwise, "rowwise"), {oracle::Direction::colwise, "colwise"}}) {
    for (const bool swizzled : {false, true}) {
      oracle::Shape shape{rows, cols, 0, 0, direction, {}};
      shape.layout = swizzled ? oracle::ScaleLayout::swizzled : oracle::ScaleLayout::linear;
      set_scale_extents(shape);
      wanted.push_back(fmt::format("{} {} [{}, {}]{}", direction_name, swizzled ? "swizzled" : "linear",
                                   shape.scale_rows, shape.scale_stride, swizzled ? "" : " or wider"));
      const bool flat = scales.shape.size() == 1 && stride == shape.scale_rows * shape.scale_stride;
      const bool fits = swizzled ? scale_rows == shape.scale_rows && stride == shape.scale_stride
                                 : scale_rows >= shape.scale_rows && stride >= shape.scale_stride;
      if (!fits && !flat) continue;
      found.push_back(fmt::format("dir={},layout={},srows={},stride={}", direction_name,
                                  swizzled ? "swizzled" : "linear", flat ? shape.scale_rows : scale_rows,
                                  flat ? shape.scale_stride : stride));
    }
  }
  if (found.empty()) {
    std::string all;
    for (const std::string& one : wanted) all += (all.empty() ? "" : ", ") + one;
    refuse(scales, fmt::format("its shape is {}; of {} x {} it would be {}",
                               fixtures::shape_text(scales.shape), rows, cols, all));
  }
  return found;
}

/// The token, which says every contract, defaults too; parse has nothing against it.
std::string checked(std::string token) {
  (void)parse(token);
  return token;
}

}  // namespace

std::vector<std::string> readings(std::span<const OfferedTensor> tensors, std::string_view fixed) {
  const Offer offer("mxfp8_dequant", tensors, {"data", "scales", "y"});
  const OfferedTensor &data = offer.need("data"), &scales = offer.need("scales");
  const auto [rows, cols] = matrix_of(data);
  if (rows == 0 || cols == 0) refuse(data, "it has no elements");
  check_shape(offer, "y", {rows, cols});
  (void)formats_of(offer, {"scales"}, {Format::e8m0});
  const auto all =
      combinations({parts("fp8", formats_of(offer, {"data"}, {Format::e4m3, Format::e5m2})),
                    parts("out", formats_of(offer, {"y"}, {Format::fp32, Format::fp16, Format::bf16})),
                    places(scales, rows, cols)});
  std::vector<std::string> tokens;
  for (const std::string& one : agreeing(all, fixed, {"fp8", "out", "dir", "layout"}))
    tokens.push_back(checked(fmt::format("mxfp8_dequant:{},rows={},cols={}", one, rows, cols)));
  return tokens;
}

std::string tells_apart(std::string_view key) {
  if (key == "fp8") return "data in a type of its own (F8_E4M3, F8_E5M2), or elements that are not zero";
  if (key == "out") return "y in a type of its own (F16, BF16), or elements that are not zero";
  if (key == "dir" || key == "layout") return "more than one block, with different scales";
  return {};
}

}  // namespace assay::properties::mxfp8_dequant
