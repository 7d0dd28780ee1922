#include "oracles/arithmetic/acceptance.hpp"

#include <cassert>

namespace assay::arithmetic {

void store_code(std::span<std::byte> codes, int bytes, std::size_t index, std::uint32_t code) {
  const auto width = static_cast<std::size_t>(bytes);
  assert(width == 1 || width == 2 || width == 4);
  assert(index < codes.size() / width);
  assert(width == 4 || code >> (8 * width) == 0);
  for (std::size_t i = 0; i < width; ++i)
    codes[index * width + i] = static_cast<std::byte>((code >> (8 * i)) & 0xFF);
}

}  // namespace assay::arithmetic
