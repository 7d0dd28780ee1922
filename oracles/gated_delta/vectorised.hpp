// A step of the recurrence with the vector instructions of the machine that runs it, where it has some. The
// build is for any x86-64, on which an fma is a call. Results do not depend on this: an operation of a vector
// rounds as one of a scalar does, and contraction is off.
#pragma once

#include <span>

#include "oracles/gated_delta/propagation.hpp"
#include "oracles/gated_delta/schedule.hpp"

namespace assay::oracles::gated_delta {

#if defined(__x86_64__)
#define ASSAY_VECTORS [[gnu::target("avx2,fma")]]
inline bool has_vectors() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
}
#else
#define ASSAY_VECTORS
inline bool has_vectors() { return false; }
#endif

namespace with_vectors {
template <class Arithmetic>
ASSAY_VECTORS typename Arithmetic::Row recur(const Contracts& contracts, const Step<Arithmetic>& step,
                                             const typename Arithmetic::Row& v,
                                             std::span<typename Arithmetic::Row> s,
                                             const Departure& departure) {
  return gated_delta::recur<Arithmetic>(contracts, step, v, s, departure);
}
template <class Arithmetic>
ASSAY_VECTORS typename Arithmetic::Row advance(const Contracts& contracts, const Step<Arithmetic>& step,
                                               const Reach& reach, const typename Arithmetic::Row& v,
                                               Tile<Arithmetic>& tile) {
  return gated_delta::advance<Arithmetic>(contracts, step, reach, v, tile);
}
}  // namespace with_vectors

/// recur() of schedule.hpp.
template <class Arithmetic>
typename Arithmetic::Row recur_fast(const Contracts& contracts, const Step<Arithmetic>& step,
                                    const typename Arithmetic::Row& v, std::span<typename Arithmetic::Row> s,
                                    const Departure& departure) {
  if (has_vectors()) return with_vectors::recur<Arithmetic>(contracts, step, v, s, departure);
  return recur<Arithmetic>(contracts, step, v, s, departure);
}

/// advance() of propagation.hpp.
template <class Arithmetic>
typename Arithmetic::Row advance_fast(const Contracts& contracts, const Step<Arithmetic>& step,
                                      const Reach& reach, const typename Arithmetic::Row& v,
                                      Tile<Arithmetic>& tile) {
  if (has_vectors()) return with_vectors::advance<Arithmetic>(contracts, step, reach, v, tile);
  return advance<Arithmetic>(contracts, step, reach, v, tile);
}

}  // namespace assay::oracles::gated_delta
