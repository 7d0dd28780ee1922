#include "kernels/mxfp8_cast/tuning.hpp"

#include <span>

namespace assay::kernels::mxfp8_cast {
namespace {

/// Sizes are per multiprocessor, so that a part with fewer of them changes over earlier.
struct Tier {
  std::int64_t most_elements;  ///< takes casts of up to this many for each multiprocessor
  Tuning tuning;
};

constexpr std::int64_t any = INT64_MAX;
constexpr std::int64_t small = std::int64_t{1} << 17;  ///< 17.3 M elements on 132 multiprocessors

// Measured on an H200 (decisions/l2_policies.md): as long as x and data fit L2, freeing it early while the
// next wave is on its way gains up to 4 %; beyond, both lose.
constexpr Tier rowwise_sm90[] = {{small, {128, true, true}}, {any, {1024, false, false}}};
constexpr Tier colwise_sm90[] = {{any, {256, false, false}}};

// Measured on an H200 (decisions/bidimensional_over_tma.md): 2 rows a thread are the faster at 8 thousand
// elements for each multiprocessor, 4 from 64 thousand on. The border between was not looked for; up to it
// all tiles of 32 x 256 are resident at a time, so that more rows a thread only leave fewer threads.
constexpr std::int64_t four_tiles = 4 * 32 * 256;  ///< 4.3 M elements on 132 multiprocessors
constexpr Tier bidimensional_sm90[] = {{four_tiles, {256, false, false}}, {any, {128, false, false}}};

// Not measured. L2 policies and a prefetch one wave ahead are published for Blackwell parts; evict_first is
// our reading of the former.
constexpr Tier rowwise_sm100[] = {{small, {128, true, true}}, {any, {1024, true, true}}};
constexpr Tier band_sm100[] = {{any, {256, true, true}}};

Tuning chosen(std::span<const Tier> tiers, const Capability& device, std::int64_t elements) {
  for (const Tier& tier : tiers) {
    if (elements / device.multiprocessors <= tier.most_elements) return tier.tuning;
  }
  return tiers.back().tuning;
}

}  // namespace

Tuning rowwise_tuning(const Capability& device, std::int64_t elements) {
  return device.sm >= 100 ? chosen(rowwise_sm100, device, elements) : chosen(rowwise_sm90, device, elements);
}

Tuning colwise_tuning(const Capability& device, std::int64_t elements) {
  return device.sm >= 100 ? chosen(band_sm100, device, elements) : chosen(colwise_sm90, device, elements);
}

Tuning bidimensional_tuning(const Capability& device, std::int64_t elements) {
  return device.sm >= 100 ? chosen(band_sm100, device, elements)
                          : chosen(bidimensional_sm90, device, elements);
}

std::uint32_t resident_blocks(const Capability& device, unsigned threads) {
  constexpr unsigned threads_per_multiprocessor = 2048;
  return device.multiprocessors * (threads_per_multiprocessor / threads);
}

}  // namespace assay::kernels::mxfp8_cast
