#include "kernels/runtime/timer.hpp"

#include <cassert>

#include "kernels/runtime/cuda_timer.hpp"

namespace assay::kernels {

void Timer::warm(std::span<const Contender> contenders) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + warm_up_;
  do {
    for (const Contender& contender : contenders) {
      start();
      contender.enqueue();
      stop();
      elapsed();
    }
  } while (Clock::now() < end);
}

void Timer::sample(const Contender& contender, Samples& samples) {
  constexpr int attempts = 8;
  constexpr unsigned most_passes = 64;  // some milliseconds of writing: more than any launch takes to enqueue
  for (int attempt = 1;; ++attempt) {
    make_cold(passes_);
    start();
    contender.enqueue();
    stop();
    const bool late = started();
    const double microseconds = elapsed();
    if (late && attempt < attempts) {
      if (passes_ < most_passes) passes_ *= 2;
      continue;
    }
    samples.microseconds.push_back(microseconds);
    samples.exposed += late ? 1u : 0u;
    return;
  }
}

std::vector<Samples> Timer::time(std::span<const Contender> contenders, unsigned runs) {
  assert(!contenders.empty() && runs > 0);
  std::vector<Samples> samples(contenders.size());
  passes_ = 1;
  warm(contenders);
  for (unsigned run = 0; run < runs; ++run) {
    for (std::size_t i = 0; i < contenders.size(); ++i) sample(contenders[i], samples[i]);
  }
  return samples;
}

std::unique_ptr<Timer> make_timer(DeviceKind kind) {
#if defined(ASSAY_WITH_CUDA)
  if (kind == DeviceKind::cuda && device(kind) != nullptr) return cuda_timer();
#endif
  static_cast<void>(kind);
  return nullptr;
}

}  // namespace assay::kernels
