#include "properties/comparator/scan.hpp"

#include <bit>
#include <cstring>

#include "properties/comparator/code_order.hpp"

namespace assay::properties::detail {
namespace {

static_assert(std::endian::native == std::endian::little,
              "codes are stored little-endian and loaded as they are");

// Twice the width of a code: holds the cross products of two fractions of codes exactly.
template <typename T>
struct Double;
template <>
struct Double<std::uint8_t> {
  using Type = std::uint16_t;
};
template <>
struct Double<std::uint16_t> {
  using Type = std::uint32_t;
};
template <>
struct Double<std::uint32_t> {
  using Type = std::uint64_t;
};

template <typename T>
[[gnu::always_inline]] inline T load(const std::byte* codes, std::size_t i) {
  T code;
  std::memcpy(&code, codes + i * sizeof(T), sizeof(T));
  return code;
}

// Flags are accumulated in the width of a code: that keeps every lane of the vector busy.
template <typename Order, bool Canonical>
[[gnu::always_inline]] inline Flags exact_body(const Streams& s, std::size_t count) {
  using T = typename Order::Code;
  T wrong = 0, malformed = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const T out = load<T>(s.out, i), lo = load<T>(s.lo, i);
    malformed = static_cast<T>(malformed | !Order::valid(lo));
    if constexpr (Canonical) {
      wrong = static_cast<T>(wrong | (out != (Order::nan(lo) ? Order::canonical_nan : lo)));
    } else {
      const bool out_nan = Order::nan(out), lo_nan = Order::nan(lo), differ = out != lo;
      wrong = static_cast<T>(wrong | (differ & !(out_nan & lo_nan)));
    }
  }
  return {wrong != 0, malformed != 0, false};
}

// A NaN's key lies outside the keys of all numbers, so an interval of numbers rejects it without being asked.
template <typename Order, bool Canonical, bool HasBest>
[[gnu::always_inline]] inline Flags interval_body(const Streams& s, std::size_t count, BoundUse worst) {
  using T = typename Order::Code;
  using Wide = typename Double<T>::Type;
  const Wide worst_used = static_cast<Wide>(worst.used), worst_room = static_cast<Wide>(worst.room);
  T wrong = 0, malformed = 0;
  Wide record = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const T out = load<T>(s.out, i), lo = load<T>(s.lo, i), hi = load<T>(s.hi, i);
    const T best = HasBest ? load<T>(s.best, i) : lo;
    const T key = Order::key(out), low = Order::key(lo), high = Order::key(hi), centre = Order::key(best);
    const bool wants_nan = Order::nan(lo);
    const bool nan_right = Canonical ? out == Order::canonical_nan : Order::nan(out);
    const bool inside = (key >= low) & (key <= high);
    wrong = static_cast<T>(wrong | !((wants_nan & nan_right) | (!wants_nan & inside)));
    const bool lo_valid = Order::valid(lo), hi_valid = Order::valid(hi), hi_nan = Order::nan(hi),
               same = hi == lo;
    const bool interval = !hi_nan & (centre >= low) & (centre <= high);
    const bool formed = lo_valid & hi_valid & ((wants_nan & same) | (!wants_nan & interval));
    malformed = static_cast<T>(malformed | !formed);
    const bool over = key > centre;
    const T used = static_cast<T>(over ? key - centre : centre - key);
    const T room = static_cast<T>(over ? high - centre : centre - low);
    const Wide ours = static_cast<Wide>(static_cast<Wide>(used) * worst_room);
    const Wide theirs = static_cast<Wide>(static_cast<Wide>(room) * worst_used);
    record = static_cast<Wide>(record | static_cast<Wide>((ours > theirs) & !wants_nan));
  }
  return {wrong != 0, malformed != 0, record != 0};
}

template <typename Order, bool Canonical>
Flags exact_baseline(const Streams& s, std::size_t count, BoundUse) {
  return exact_body<Order, Canonical>(s, count);
}
template <typename Order, bool Canonical, bool HasBest>
Flags interval_baseline(const Streams& s, std::size_t count, BoundUse worst) {
  return interval_body<Order, Canonical, HasBest>(s, count, worst);
}

#if defined(__x86_64__)
template <typename Order, bool Canonical>
[[gnu::target("avx2")]] Flags exact_avx2(const Streams& s, std::size_t count, BoundUse) {
  return exact_body<Order, Canonical>(s, count);
}
template <typename Order, bool Canonical, bool HasBest>
[[gnu::target("avx2")]] Flags interval_avx2(const Streams& s, std::size_t count, BoundUse worst) {
  return interval_body<Order, Canonical, HasBest>(s, count, worst);
}
bool wide_vectors() { return __builtin_cpu_supports("avx2") != 0; }
#endif

template <typename Order, bool Canonical>
Scan choose(bool exact, bool has_best, [[maybe_unused]] Vectors vectors) {
#if defined(__x86_64__)
  if (vectors == Vectors::widest && wide_vectors()) {
    if (exact) return exact_avx2<Order, Canonical>;
    return has_best ? interval_avx2<Order, Canonical, true> : interval_avx2<Order, Canonical, false>;
  }
#endif
  if (exact) return exact_baseline<Order, Canonical>;
  return has_best ? interval_baseline<Order, Canonical, true> : interval_baseline<Order, Canonical, false>;
}

}  // namespace

Scan scan_for(formats::Format format, arithmetic::NanRule rule, bool exact, bool has_best, Vectors vectors) {
  return with_order(format, [&]<typename Order>(Order) {
    return rule == arithmetic::NanRule::canonical ? choose<Order, true>(exact, has_best, vectors)
                                                  : choose<Order, false>(exact, has_best, vectors);
  });
}

}  // namespace assay::properties::detail
