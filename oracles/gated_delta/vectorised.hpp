// A step of the recurrence with the vector instructions of the machine that runs it, where it has some. The
// build is for any x86-64, on which an fma is a call. Bits do not depend on this: an operation of a vector
// rounds as one of a scalar does, and contraction is off.
#pragma once

#include <span>

#include "oracles/gated_delta/schedule.hpp"

namespace assay::oracles::gated_delta {

#if defined(__x86_64__)
template <class Arithmetic>
[[gnu::target("avx2,fma")]] typename Arithmetic::Row recur_with_avx2(const Contracts& contracts,
                                                                     const Step<Arithmetic>& step,
                                                                     const typename Arithmetic::Row& v,
                                                                     std::span<typename Arithmetic::Row> s,
                                                                     const Departure& departure) {
  return recur<Arithmetic>(contracts, step, v, s, departure);
}
#endif

/// recur() of schedule.hpp.
template <class Arithmetic>
typename Arithmetic::Row recur_vectorised(const Contracts& contracts, const Step<Arithmetic>& step,
                                          const typename Arithmetic::Row& v,
                                          std::span<typename Arithmetic::Row> s, const Departure& departure) {
#if defined(__x86_64__)
  static const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2) return recur_with_avx2<Arithmetic>(contracts, step, v, s, departure);
#endif
  return recur<Arithmetic>(contracts, step, v, s, departure);
}

}  // namespace assay::oracles::gated_delta
