#include "properties/comparator/comparator.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "properties/comparator/code_order.hpp"
#include "properties/comparator/scan.hpp"

namespace assay::properties {
namespace {

using arithmetic::Acceptance;
using arithmetic::ElementRange;
using arithmetic::NanRule;
using detail::BoundUse;

// Elements a scan looks at before it is asked: small enough that one mismatch costs little, and that all
// streams of a run stay in the first-level cache for the closer look.
constexpr std::size_t run = 2048;

struct Tally {
  Comparison result;
  std::size_t keep = 0;
  std::vector<std::size_t>* every = nullptr;  // all mismatching indices, when wanted
  BoundUse worst;

  void reject(const Mismatch& mismatch) {
    ++result.failed;
    result.worst_codes_outside = std::max(result.worst_codes_outside, mismatch.codes_outside);
    if (result.first.size() < keep) result.first.push_back(mismatch);
    if (every != nullptr) every->push_back(mismatch.index);
  }
  void use(std::uint32_t used, std::uint32_t room) {
    if (std::uint64_t{used} * worst.room > std::uint64_t{room} * worst.used) worst = {used, room};
  }
};

// Compares the elements [first, first + count) of a buffer, of which `window` holds the contents.
template <typename Order>
class Comparer {
 public:
  using T = typename Order::Code;

  Comparer(const Acceptance& acceptance, std::size_t first, std::span<const std::byte> window,
           std::span<const std::byte> before, Tally& tally)
      : acceptance_(acceptance),
        first_(first),
        window_(window),
        before_(before),
        tally_(tally),
        scan_(detail::scan_for(acceptance.format, acceptance.nan, acceptance.exact(),
                               !acceptance.best.empty())) {}

  void judge(std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; at += run) {
      const std::size_t count = std::min(run, end - at);
      const detail::Flags flags = scan_(streams(at), count, tally_.worst);
      assert(!flags.malformed &&
             "lo over hi, best outside lo..hi, a NaN on one side only, or no code of the format");
      if (!flags.wrong && !flags.record) continue;
      for (std::size_t i = at; i < at + count; ++i) inspect(i);
    }
  }

  void keep(std::size_t begin, std::size_t end) {
    const std::byte* ours = window_.data() + (begin - first_) * sizeof(T);
    if (std::memcmp(ours, before_.data() + begin * sizeof(T), (end - begin) * sizeof(T)) == 0) return;
    for (std::size_t i = begin; i < end; ++i) {
      const T actual = out(i), old = load(before_, i);
      if (actual != old) tally_.reject({i, actual, old, old, true, outside(actual, old, old)});
    }
  }

 private:
  static T load(std::span<const std::byte> codes, std::size_t i) {
    T code;
    std::memcpy(&code, codes.data() + i * sizeof(T), sizeof(T));
    return code;
  }
  T out(std::size_t i) const { return load(window_, i - first_); }

  detail::Streams streams(std::size_t at) const {
    const auto offset = [at](const std::vector<std::byte>& codes) {
      return codes.empty() ? nullptr : codes.data() + at * sizeof(T);
    };
    return {window_.data() + (at - first_) * sizeof(T), offset(acceptance_.lo), offset(acceptance_.hi),
            offset(acceptance_.best)};
  }

  static std::uint64_t outside(T actual, T lo, T hi) {
    if (Order::nan(actual) || Order::nan(lo)) return 0;
    const std::uint64_t key = Order::key(actual), low = Order::key(lo), high = Order::key(hi);
    return key < low ? low - key : key > high ? key - high : 0;
  }

  // The definition of acceptance.hpp for one element; the scan only says where to apply it.
  void inspect(std::size_t i) {
    const T actual = out(i), lo = load(acceptance_.lo, i);
    const T hi = acceptance_.exact() ? lo : load(acceptance_.hi, i);
    if (Order::nan(lo)) {
      const bool right =
          acceptance_.nan == NanRule::canonical ? actual == Order::canonical_nan : Order::nan(actual);
      if (!right) tally_.reject({i, actual, lo, hi, false, 0});
      return;
    }
    const T key = Order::key(actual), low = Order::key(lo), high = Order::key(hi);
    if (key < low || key > high) return tally_.reject({i, actual, lo, hi, false, outside(actual, lo, hi)});
    if (acceptance_.exact()) return;
    const T centre = acceptance_.best.empty() ? low : Order::key(load(acceptance_.best, i));
    if (key > centre) tally_.use(key - centre, high - centre);
    if (key < centre) tally_.use(centre - key, centre - low);
  }

  const Acceptance& acceptance_;
  std::size_t first_;
  std::span<const std::byte> window_, before_;
  Tally& tally_;
  detail::Scan scan_;
};

void check_sizes(const Acceptance& acceptance, std::size_t first, std::span<const std::byte> window,
                 std::span<const std::byte> before) {
  const auto bytes = static_cast<std::size_t>(formats::storage_bytes(acceptance.format));
  assert(acceptance.lo.size() % bytes == 0 && window.size() % bytes == 0);
  assert(acceptance.hi.empty() || acceptance.hi.size() == acceptance.lo.size());
  assert(acceptance.best.empty() || acceptance.best.size() == acceptance.lo.size());
  assert(first <= acceptance.size() && window.size() / bytes <= acceptance.size() - first);
  assert(before.empty() || before.size() == acceptance.lo.size());
  assert((acceptance.untouched.empty() || before.size() == acceptance.lo.size()) &&
         "untouched elements need the contents from before the launch");
  (void)acceptance, (void)first, (void)window, (void)before, (void)bytes;
}

void walk(const Acceptance& acceptance, std::size_t first, std::span<const std::byte> window,
          std::span<const std::byte> before, Tally& tally) {
  check_sizes(acceptance, first, window, before);
  const std::size_t end =
      first + window.size() / static_cast<std::size_t>(formats::storage_bytes(acceptance.format));
  detail::with_order(acceptance.format, [&]<typename Order>(Order) {
    Comparer<Order> comparer(acceptance, first, window, before, tally);
    const auto& kept = acceptance.untouched;
    auto range =
        std::partition_point(kept.begin(), kept.end(), [&](const ElementRange& r) { return r.end <= first; });
    std::size_t at = first;
    for (; range != kept.end() && range->begin < end; ++range) {
      assert(range->begin <= range->end && range->end <= acceptance.size());
      assert((range == kept.begin() || std::prev(range)->end <= range->begin) &&
             "untouched: ascending, disjoint");
      const std::size_t from = std::max(range->begin, first), to = std::min(range->end, end);
      comparer.judge(at, from);
      if (from < to) comparer.keep(from, to);
      at = to;
    }
    comparer.judge(at, end);
  });
  tally.result.compared = end - first;
  tally.result.worst_bound_use =
      static_cast<double>(tally.worst.used) / static_cast<double>(tally.worst.room);
}

}  // namespace

Comparison compare_window(const Acceptance& acceptance, std::size_t first, std::span<const std::byte> window,
                          std::span<const std::byte> before, std::size_t keep) {
  Tally tally;
  tally.keep = keep;
  walk(acceptance, first, window, before, tally);
  return tally.result;
}

Comparison compare(const Acceptance& acceptance, std::span<const std::byte> actual,
                   std::span<const std::byte> before, std::size_t keep) {
  assert(actual.size() == acceptance.lo.size());
  return compare_window(acceptance, 0, actual, before, keep);
}

std::vector<std::size_t> mismatching(const Acceptance& acceptance, std::span<const std::byte> actual,
                                     std::span<const std::byte> before) {
  assert(actual.size() == acceptance.lo.size());
  std::vector<std::size_t> every;
  Tally tally;
  tally.every = &every;
  walk(acceptance, 0, actual, before, tally);
  return every;
}

}  // namespace assay::properties
