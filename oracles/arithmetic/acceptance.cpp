#include "oracles/arithmetic/acceptance.hpp"

#include <cassert>

namespace assay::arithmetic {

std::uint32_t load_code(std::span<const std::byte> codes, int bytes, std::size_t index) {
  const auto width = static_cast<std::size_t>(bytes);
  assert(width == 1 || width == 2 || width == 4);
  assert(index < codes.size() / width);
  std::uint32_t code = 0;  // byte by byte: the files are little-endian, whatever the host is
  for (std::size_t i = 0; i < width; ++i)
    code |= std::to_integer<std::uint32_t>(codes[index * width + i]) << (8 * i);
  return code;
}

void store_code(std::span<std::byte> codes, int bytes, std::size_t index, std::uint32_t code) {
  const auto width = static_cast<std::size_t>(bytes);
  assert(width == 1 || width == 2 || width == 4);
  assert(index < codes.size() / width);
  assert(width == 4 || code >> (8 * width) == 0);
  for (std::size_t i = 0; i < width; ++i)
    codes[index * width + i] = static_cast<std::byte>((code >> (8 * i)) & 0xFF);
}

}  // namespace assay::arithmetic
