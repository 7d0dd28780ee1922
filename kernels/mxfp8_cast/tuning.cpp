#include "kernels/mxfp8_cast/tuning.hpp"

#include <span>

namespace assay::kernels::mxfp8_cast {
namespace {

struct Tier {
  std::int64_t most_elements;  ///< takes casts of up to this many
  Tuning tuning;
};

constexpr std::int64_t any = INT64_MAX;

// Measured on an H200. Small casts want many thread blocks to reach every multiprocessor, large ones few and
// long runs of memory. There, evict_first and the prefetch cost 1 to 5 %.
constexpr Tier rowwise_sm90[] = {{std::int64_t{1} << 23, {128, false, false}}, {any, {1024, false, false}}};
constexpr Tier band_sm90[] = {{std::int64_t{1} << 22, {256, false, false}}, {any, {512, false, false}}};

// As published for Blackwell parts: x read once and out of L2 first, the next wave's tiles on their way.
constexpr Tier rowwise_sm100[] = {{std::int64_t{1} << 23, {128, true, false}}, {any, {1024, true, true}}};
constexpr Tier band_sm100[] = {{std::int64_t{1} << 22, {256, true, false}}, {any, {512, true, true}}};

Tuning chosen(std::span<const Tier> tiers, std::int64_t elements) {
  for (const Tier& tier : tiers) {
    if (elements <= tier.most_elements) return tier.tuning;
  }
  return tiers.back().tuning;
}

}  // namespace

Tuning rowwise_tuning(const Capability& device, std::int64_t elements) {
  return device.sm >= 100 ? chosen(rowwise_sm100, elements) : chosen(rowwise_sm90, elements);
}

Tuning band_tuning(const Capability& device, std::int64_t rows, std::int64_t cols) {
  Tuning tuning = device.sm >= 100 ? chosen(band_sm100, rows * cols) : chosen(band_sm90, rows * cols);
  if (cols % tuning.threads != 0) tuning.threads = 256;
  return tuning;
}

std::uint32_t resident_blocks(const Capability& device, unsigned threads) {
  constexpr unsigned threads_per_multiprocessor = 2048;
  return device.multiprocessors * (threads_per_multiprocessor / threads);
}

}  // namespace assay::kernels::mxfp8_cast
