// Acceptances and buffers from lists of codes, for the comparator's tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "oracles/arithmetic/acceptance.hpp"

namespace assay::properties {

using Bytes = std::vector<std::byte>;
using Codes = std::vector<std::uint32_t>;

inline Bytes pack(formats::Format format, const Codes& codes) {
  const int width = formats::storage_bytes(format);
  Bytes bytes(codes.size() * static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < codes.size(); ++i) arithmetic::store_code(bytes, width, i, codes[i]);
  return bytes;
}

inline arithmetic::Acceptance exact(formats::Format format, const Codes& lo,
                                    arithmetic::NanRule rule = arithmetic::NanRule::any) {
  arithmetic::Acceptance accept;
  accept.format = format;
  accept.lo = pack(format, lo);
  accept.nan = rule;
  return accept;
}

inline arithmetic::Acceptance between(formats::Format format, const Codes& lo, const Codes& hi,
                                      arithmetic::NanRule rule = arithmetic::NanRule::any) {
  arithmetic::Acceptance accept = exact(format, lo, rule);
  accept.hi = pack(format, hi);
  return accept;
}

}  // namespace assay::properties
