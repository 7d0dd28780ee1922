#include "properties/gate/describe.hpp"

#include <fmt/core.h>

#include <cmath>

#include "oracles/formats/codec.hpp"

namespace assay::properties {

std::string describe_code(formats::Format format, std::uint32_t code) {
  const int digits = format == formats::Format::int4 || format == formats::Format::uint4
                         ? 1
                         : 2 * formats::storage_bytes(format);
  const std::string hex = fmt::format("0x{:0{}X}", code, digits);
  const formats::Exact x = formats::decode(format, code);
  const char* sign = x.negative ? "-" : "";
  switch (x.kind) {
    case formats::Kind::nan:
      return hex + " = NaN";
    case formats::Kind::infinity:
      return fmt::format("{} = {}Inf", hex, sign);
    case formats::Kind::zero:
      return fmt::format("{} = {}0", hex, sign);
    case formats::Kind::finite:
      break;
  }
  // Every format here has at most 24 significant bits and exponents a double holds, so this is exact.
  const double value = std::ldexp(static_cast<double>(x.significand), x.exponent);
  return fmt::format("{} = {}{:.9g} ({}{:a})", hex, sign, value, sign, value);
}

std::string describe_place(const OutputBuffer& output, std::size_t index) {
  if (output.place) {
    const auto place = output.place(index);
    if (!place) return fmt::format("{}, byte {} (padding)", output.name, index);
    return fmt::format("{}[{}, {}] (byte {})", output.name, place->first, place->second, index);
  }
  const std::size_t stride = output.stride ? output.stride : 1;
  const std::size_t row = index / stride, column = index % stride;
  if (row >= output.rows || column >= output.cols) {
    return fmt::format("{}[{}, {}] (padding)", output.name, row, column);
  }
  if (output.elements_per_block > 1) {
    const std::size_t along = output.blocks_in_columns ? row : column;
    return fmt::format("{}[{}, {}] (block {}, lane {})", output.name, row, column,
                       along / output.elements_per_block, along % output.elements_per_block);
  }
  return fmt::format("{}[{}, {}]", output.name, row, column);
}

std::string describe_mismatch(const OutputBuffer& output, const Mismatch& mismatch) {
  std::string expected = describe_code(output.format, mismatch.lo);
  if (mismatch.untouched) {
    expected = fmt::format("0x{:02X}, untouched since before the launch", mismatch.lo);
  } else if (mismatch.hi != mismatch.lo) {
    expected += " .. " + describe_code(output.format, mismatch.hi);
  }
  std::string text = fmt::format("{}: expected {}, actual {}", describe_place(output, mismatch.index),
                                 expected, describe_code(output.format, mismatch.actual));
  if (mismatch.codes_outside > 0) {
    text += fmt::format(", {} code{} outside", grouped(mismatch.codes_outside),
                        mismatch.codes_outside == 1 ? "" : "s");
  }
  return text;
}

std::string describe_ranges(const std::vector<std::size_t>& ascending, std::size_t end) {
  std::string text;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < ascending.size(); ++shown) {
    std::size_t j = i;
    while (j + 1 < ascending.size() && ascending[j + 1] == ascending[j] + 1) ++j;
    if (shown == 8) return text + ", ...";
    if (!text.empty()) text += ", ";
    if (ascending[j] + 1 == end && j > i) {
      text += fmt::format("{}..", ascending[i]);
    } else if (j > i) {
      text += fmt::format("{}..{}", ascending[i], ascending[j]);
    } else {
      text += fmt::format("{}", ascending[i]);
    }
    i = j + 1;
  }
  return text;
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

}  // namespace assay::properties
