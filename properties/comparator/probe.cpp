#include "properties/comparator/probe.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>

#include "oracles/formats/codec.hpp"
#include "oracles/formats/definition.hpp"  // inline: a search asks of every element

namespace assay::properties {
namespace {

using arithmetic::Acceptance;
using arithmetic::ElementRange;
using arithmetic::NanRule;

// Elements looked at for the best place before the whole buffer is searched.
constexpr std::size_t sample = std::size_t{1} << 14;
constexpr std::size_t lanes = 32;

class Prober {
 public:
  Prober(const Acceptance& acceptance, std::span<const std::byte> passed, std::span<const std::byte> before,
         Geometry geometry, const WindowCompare& judge)
      : accept_(acceptance),
        spec_(formats::spec(acceptance.format)),
        width_(formats::storage_bytes(acceptance.format)),
        mask_(spec_.bits == 32 ? ~0u : (1u << spec_.bits) - 1),
        sign_(spec_.has_sign ? 1u << (spec_.bits - 1) : 0),
        passed_(passed),
        before_(before),
        geometry_(geometry),
        data_(geometry.rows * geometry.cols),
        judge_(judge) {}

  ProbeReport run() {
    code_steps();
    scale_steps();
    lost_value("element zeroed", [](std::uint32_t) { return std::optional<std::uint32_t>(0); });
    lost_value("sign flipped", [this](std::uint32_t code) { return negated(code); });
    swapped();
    stale();
    shifted();
    kinds();
    padding();
    for (Probe& one : report_.probes) one.caught = one.caught && one.applied;
    return std::move(report_);
  }

 private:
  // ---- what the definition says ----
  bool integer() const { return spec_.specials == formats::Specials::none; }
  bool nan(std::uint32_t code) const { return formats::definition::is_nan(spec_, code); }
  std::uint32_t key(std::uint32_t code) const { return formats::definition::ordered_key(spec_, code); }
  std::uint32_t code_of(std::uint32_t key) const {
    if (integer()) return key ^ sign_;
    return (key & sign_) != 0 || sign_ == 0 ? key ^ sign_ : ~key & mask_;
  }
  std::uint32_t load(std::span<const std::byte> codes, std::size_t i) const {
    return arithmetic::load_code(codes, width_, i);
  }
  std::uint32_t actual(std::size_t i) const { return load(passed_, i); }
  std::uint32_t lo(std::size_t i) const { return load(accept_.lo, i); }
  std::uint32_t hi(std::size_t i) const { return accept_.exact() ? lo(i) : load(accept_.hi, i); }

  bool untouched(std::size_t i) const {
    const auto& kept = accept_.untouched;
    const auto range =
        std::partition_point(kept.begin(), kept.end(), [i](const ElementRange& r) { return r.end <= i; });
    return range != kept.end() && range->begin <= i;
  }
  bool right(std::size_t i, std::uint32_t code) const {
    if (untouched(i)) return code == load(before_, i);
    if ((code & ~mask_) != 0) return false;
    if (nan(lo(i)))
      return accept_.nan == NanRule::any ? nan(code) : code == formats::canonical_nan(accept_.format);
    return !nan(code) && key(lo(i)) <= key(code) && key(code) <= key(hi(i));
  }
  std::optional<std::uint32_t> negated(std::uint32_t code) const {
    if (sign_ == 0 || nan(code)) return std::nullopt;
    if (!integer()) return code ^ sign_;
    const std::uint32_t twin = (0u - code) & mask_;
    return twin == code ? std::nullopt : std::optional(twin);
  }

  // ---- places ----
  std::size_t stored(std::size_t datum) const {
    if (geometry_.cols == geometry_.stride) return datum;  // the usual case, and divisions add up in a search
    return datum / geometry_.cols * geometry_.stride + datum % geometry_.cols;
  }
  // Evenly spread stored indices first, then all of them; stops when `use` returns true.
  template <typename Use>
  bool search(Use&& use) const {
    const std::size_t step = std::max<std::size_t>(data_ / sample, 1);
    for (std::size_t datum = 0; datum < data_; datum += step) {
      if (use(stored(datum))) return true;
    }
    if (step == 1) return false;
    for (std::size_t datum = 0; datum < data_; ++datum) {
      if (use(stored(datum))) return true;
    }
    return false;
  }
  std::vector<std::size_t> corners() const { return {0, data_ / 2, data_ - 1}; }
  // One datum per lane modulo 32, at a different depth of the buffer each: a fault in one lane of a vector
  // access, or in the tail of a block, has a place among them.
  std::vector<std::size_t> places() const {
    std::vector<std::size_t> data = corners();
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::size_t groups = data_ / lanes;
      const std::size_t datum = groups * lane / lanes * lanes + lane;
      if (datum < data_) data.push_back(datum);
    }
    return data;
  }

  // ---- injection ----
  Probe& begin(std::string_view name) { return report_.probes.emplace_back(Probe{name, false, true}); }

  void judge(Probe& probe, std::size_t first, std::span<const std::byte> window) {
    assert(compare_window(accept_, first, passed_.subspan(first * bytes(), window.size()), before_).failed ==
               0 &&
           "probes are for an output that has passed");
    const Comparison verdict = judge_(accept_, first, window, before_);
    probe.applied = true;
    probe.caught = probe.caught && verdict.failed > 0;
  }
  void inject(Probe& probe, std::size_t i, std::uint32_t code) {
    std::array<std::byte, 4> element{};
    arithmetic::store_code(element, width_, 0, code);
    judge(probe, i, std::span<const std::byte>(element).first(bytes()));
  }
  std::size_t bytes() const { return static_cast<std::size_t>(width_); }

  void step(Probe& probe, std::size_t datum, bool up) {
    const std::size_t i = stored(datum);
    if (untouched(i) || nan(lo(i))) return;
    const std::uint32_t edge = key(up ? hi(i) : lo(i));
    if (edge == (up ? mask_ : 0)) return;
    inject(probe, i, code_of(up ? edge + 1 : edge - 1));
  }
  void code_steps() {
    for (const bool up : {true, false}) {
      Probe& probe = begin(up ? "one code up" : "one code down");
      for (const std::size_t datum : places()) step(probe, datum, up);
    }
  }
  void scale_steps() {
    Probe& probe = begin("scale off by one");
    if (accept_.format != formats::Format::e8m0) return;
    for (const std::size_t datum : corners()) {
      step(probe, datum, true);
      step(probe, datum, false);
    }
  }

  // A fault that takes the element's value away. When no place tells it from the right value, the first that
  // has a value stands for the acceptance as a whole, which is then too wide to see anything.
  template <typename Damage>
  void lost_value(std::string_view name, Damage&& damage) {
    Probe& probe = begin(name);
    std::optional<std::size_t> blind;
    const bool told = search([&](std::size_t i) {
      const std::uint32_t code = actual(i);
      const std::optional<std::uint32_t> damaged = damage(code);
      if (!damaged || *damaged == code) return false;
      if (right(i, *damaged)) {
        if (!blind) blind = i;
        return false;
      }
      inject(probe, i, *damaged);
      return true;
    });
    if (!told && blind) inject(probe, *blind, *damage(actual(*blind)));
  }

  void swapped() {
    Probe& probe = begin("elements swapped");
    std::optional<std::size_t> least, most;
    const std::size_t stride = std::max<std::size_t>(data_ / sample, 1);
    for (std::size_t datum = 0; datum < data_; datum += stride) {
      const std::size_t i = stored(datum);
      if (untouched(i) || nan(actual(i))) continue;
      if (!least || key(actual(i)) < key(actual(*least))) least = i;
      if (!most || key(actual(i)) > key(actual(*most))) most = i;
    }
    if (!least || !most) return;
    const std::uint32_t small = actual(*least), large = actual(*most);
    if (right(*least, large) && right(*most, small)) return;
    // Either element gives the swap away; it is missed only if both are accepted.
    Probe at_least{probe.name, false, true}, at_most{probe.name, false, true};
    inject(at_least, *least, large);
    inject(at_most, *most, small);
    probe.applied = true;
    probe.caught = at_least.caught || at_most.caught;
  }

  // The data of one row with each element taken from elsewhere; injected when some element is then not right.
  template <typename From>
  bool replace_row(Probe& probe, std::size_t row, From&& from) {
    const std::size_t first = row * geometry_.stride;
    std::vector<std::byte> window(geometry_.cols * bytes());
    bool differs = false;
    for (std::size_t col = 0; col < geometry_.cols; ++col) {
      const std::uint32_t code = from(first + col);
      arithmetic::store_code(window, width_, col, code);
      differs = differs || !right(first + col, code);
    }
    if (differs) judge(probe, first, window);
    return differs;
  }
  void stale() {
    const auto old = [this](std::size_t i) { return load(before_, i); };
    Probe& row = begin("row stale");
    if (!before_.empty()) {
      bool told = false;
      for (const std::size_t r : {std::size_t{0}, geometry_.rows / 2, geometry_.rows - 1})
        told = replace_row(row, r, old) || told;
      for (std::size_t r = 0; !told && r < geometry_.rows; ++r) told = replace_row(row, r, old);
    }
    Probe& last = begin("last element stale");
    const std::size_t i = stored(data_ - 1);
    if (!before_.empty() && !right(i, old(i))) inject(last, i, old(i));
  }
  void shifted() {
    Probe& probe = begin("row shifted");
    for (std::size_t row = 0; row < geometry_.rows; ++row) {
      const std::size_t first = row * geometry_.stride;
      const auto left = [&](std::size_t i) { return actual(i == first ? i : i - 1); };
      if (replace_row(probe, row, left)) return;
    }
  }

  void kinds() {
    if (integer()) return;
    Probe& to_nan = begin("NaN for a number");
    search([&](std::size_t i) {
      if (untouched(i) || nan(lo(i))) return false;
      inject(to_nan, i, formats::canonical_nan(accept_.format));
      return true;
    });
    Probe& from_nan = begin("number for a NaN");
    search([&](std::size_t i) {
      if (untouched(i) || !nan(lo(i))) return false;
      inject(from_nan, i, formats::max_finite(accept_.format));
      return true;
    });
  }
  void padding() {
    Probe& probe = begin("padding written");
    for (const ElementRange& range : accept_.untouched) {
      if (range.begin == range.end) continue;
      inject(probe, range.begin, actual(range.begin) ^ 1);
      return;
    }
  }

  const Acceptance& accept_;
  const formats::Spec& spec_;
  int width_;
  std::uint32_t mask_, sign_;
  std::span<const std::byte> passed_, before_;
  Geometry geometry_;
  std::size_t data_;
  const WindowCompare& judge_;
  ProbeReport report_;
};

}  // namespace

bool ProbeReport::earned() const {
  const auto applied = [](const Probe& one) { return one.applied; };
  const auto held = [](const Probe& one) { return !one.applied || one.caught; };
  return std::any_of(probes.begin(), probes.end(), applied) &&
         std::all_of(probes.begin(), probes.end(), held);
}

Comparison judge_window(const Acceptance& acceptance, std::size_t first, std::span<const std::byte> window,
                        std::span<const std::byte> before) {
  return compare_window(acceptance, first, window, before, 0);
}

ProbeReport probe(const Acceptance& acceptance, std::span<const std::byte> passed,
                  std::span<const std::byte> before, Geometry geometry, const WindowCompare& judge) {
  assert(passed.size() == acceptance.lo.size());
  assert(before.empty() || before.size() == passed.size());
  if (geometry.rows == 0 || geometry.cols == 0) return {};
  assert(geometry.stride >= geometry.cols);
  assert((geometry.rows - 1) * geometry.stride + geometry.cols <= acceptance.size());
  return Prober(acceptance, passed, before, geometry, judge).run();
}

}  // namespace assay::properties
