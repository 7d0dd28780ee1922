// A made-up family whose "kernel" is a lambda, for the tests of the gate.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "oracles/arithmetic/acceptance.hpp"
#include "properties/gate/family.hpp"

// Where the sanitizer stops a write into a guard zone itself, which the runtime's tests show.
#if defined(__SANITIZE_ADDRESS__)
#define ASSAY_GUARDS_ARE_POISONED 1
#elif defined(__has_feature)
#define ASSAY_GUARDS_ARE_POISONED __has_feature(address_sanitizer)
#else
#define ASSAY_GUARDS_ARE_POISONED 0
#endif

namespace assay::properties::copy_testing {

using kernels::LaunchContext;

inline constexpr std::size_t rows = 4, cols = 6, stride = 8;

/// Copies x [4, 6] into a padded output [4, 8] of e4m3 codes, padding untouched.
inline void copy_right(const std::uint8_t* x, std::uint8_t* y) {
  for (std::size_t r = 0; r < rows; ++r) std::memcpy(y + r * stride, x + r * cols, cols);
}

inline void record(LaunchContext& context, const char* kernel) {
  context.witness.launches.push_back({kernel, {}, {}, 0});
}

using CopyBody = std::function<void(LaunchContext&, const std::uint8_t*, std::uint8_t*)>;

/// Of the family below; `body` is what "ran".
class CopyWorkload : public Workload {
 public:
  explicit CopyWorkload(CopyBody body) : body_(std::move(body)) {
    for (std::size_t i = 0; i < rows * cols; ++i) x_.push_back(static_cast<std::byte>(0x21 + i));
    acceptance_.resize(1);
    acceptance_[0].format = formats::Format::e4m3;
    acceptance_[0].lo.resize(rows * stride);
    for (std::size_t r = 0; r < rows; ++r) {
      std::memcpy(acceptance_[0].lo.data() + r * stride, x_.data() + r * cols, cols);
      acceptance_[0].untouched.push_back({r * stride + cols, (r + 1) * stride});
    }
  }
  std::string token() const override { return "copy:"; }
  std::vector<InputBuffer> inputs() const override { return {{"x", formats::Format::e4m3, x_, 16}}; }
  std::vector<OutputBuffer> outputs() const override {
    return {{"y", formats::Format::e4m3, rows * stride, 16, rows, cols, stride, 1}};
  }
  const std::vector<arithmetic::Acceptance>& acceptance() override { return acceptance_; }
  kernels::Support supports(std::size_t route, kernels::DeviceKind) const override {
    if (route == 0) return refuse_first ? kernels::Support::no("too wide") : kernels::Support::yes();
    return refusal.empty() ? kernels::Support::yes() : kernels::Support::no(refusal);
  }
  kernels::Support expected_support(std::size_t route, kernels::DeviceKind) const override {
    return route == 1 ? kernels::Support::no("rows are odd") : kernels::Support::yes();
  }
  ExpectedWitness expected_witness(std::size_t route) const override {
    if (route == 0) return {{"copy_fast"}, counters};
    return {{"copy_slow", "copy_slow"}, {}};
  }
  void launch(std::size_t, LaunchContext& context, std::span<void* const> in,
              std::span<void* const> out) const override {
    body_(context, static_cast<const std::uint8_t*>(in[0]), static_cast<std::uint8_t*>(out[0]));
  }
  std::vector<Diagnosis> diagnose(const Contents&, const Contents&) override { return {}; }
  std::vector<Reduction> reductions(std::size_t, std::size_t) const override { return {}; }

  std::string refusal = "rows are odd";  ///< of route 1; empty: it takes everything
  bool refuse_first = false;
  std::map<std::string, std::uint64_t> counters;  ///< that route 0 has to show
  std::vector<arithmetic::Acceptance> acceptance_;

 private:
  std::vector<std::byte> x_;
  CopyBody body_;
};

using StateBody = std::function<void(const std::uint8_t* x, std::uint8_t* o, std::uint8_t* state)>;

inline constexpr std::size_t slots = 3, slot_elements = 8;
inline constexpr std::size_t slot_of[] = {2, 0};  ///< of two sequences; slot 1 is nobody's

/// Adds x [2, 8] to the codes of the sequences' slots of a pool [3, 8], and copies the sums to o [2, 8].
inline void step_right(const std::uint8_t* x, std::uint8_t* o, std::uint8_t* state) {
  for (std::size_t i = 0; i < std::size(slot_of) * slot_elements; ++i) {
    std::uint8_t& element = state[slot_of[i / slot_elements] * slot_elements + i % slot_elements];
    element = static_cast<std::uint8_t>(element + x[i]);
    o[i] = element;
  }
}

/// A case with a buffer that is read and written in place, and one that is only written.
class StateWorkload : public CopyWorkload {
 public:
  /// `step`: what x holds; 0 asks for the old state.
  explicit StateWorkload(StateBody body, std::uint8_t step = 3)
      : CopyWorkload({}), body_(std::move(body)), x_(2 * slot_elements, std::byte{step}) {
    for (std::size_t i = 0; i < slots * slot_elements; ++i)
      initial_.push_back(static_cast<std::byte>(0x21 + i));
    acceptance_.assign(2, {});
    for (auto& acceptance : acceptance_) acceptance.format = formats::Format::e4m3;
    acceptance_[0].lo.resize(2 * slot_elements);
    acceptance_[1].lo = initial_;
    step_right(reinterpret_cast<const std::uint8_t*>(x_.data()),
               reinterpret_cast<std::uint8_t*>(acceptance_[0].lo.data()),
               reinterpret_cast<std::uint8_t*>(acceptance_[1].lo.data()));
    acceptance_[1].untouched = {{slot_elements, 2 * slot_elements}};
  }
  std::vector<InputBuffer> inputs() const override { return {{"x", formats::Format::e4m3, x_, 16}}; }
  std::vector<OutputBuffer> outputs() const override {
    OutputBuffer state{"state", formats::Format::e4m3, slots * slot_elements, 16,
                       slots,   slot_elements,         slot_elements};
    state.initial = initial_;
    return {{"o", formats::Format::e4m3, 2 * slot_elements, 16, 2, slot_elements, slot_elements}, state};
  }
  void launch(std::size_t, LaunchContext& context, std::span<void* const> in,
              std::span<void* const> out) const override {
    record(context, "copy_fast");
    body_(static_cast<const std::uint8_t*>(in[0]), static_cast<std::uint8_t*>(out[0]),
          static_cast<std::uint8_t*>(out[1]));
  }
  std::vector<Diagnosis> diagnose(const Contents&, const Contents& before) override {
    diagnosed_before = before;
    return {};
  }
  const std::vector<std::byte>& initial() const { return initial_; }

  Contents diagnosed_before;

 private:
  StateBody body_;
  std::vector<std::byte> x_, initial_;
};

/// Two routes: fast (production), slow (legacy).
class CopyFamily : public Family {
 public:
  std::string_view name() const override { return "copy"; }
  std::string_view summary() const override { return ""; }
  std::vector<kernels::RouteInfo> routes() const override { return listed; }
  std::vector<std::string> cases(Level, std::uint64_t) const override { return {}; }
  std::unique_ptr<Workload> materialise(std::string_view) const override { return nullptr; }
  std::unique_ptr<Workload> blank(std::string_view) const override { return nullptr; }
  std::unique_ptr<Workload> with_contents(std::string_view, Contents) const override { return nullptr; }
  std::vector<std::unique_ptr<Workload>> on_tensor(const fixtures::Tensor&, const std::filesystem::path&,
                                                   Level) const override {
    return {};
  }
  std::vector<std::string> readings(std::span<const OfferedTensor>, std::string_view) const override {
    return {};
  }
  std::string tells_apart(std::string_view) const override { return {}; }
  std::vector<std::string> real_inputs() const override { return {}; }
  std::vector<Property> properties() const override { return {}; }
  std::map<std::string, std::vector<std::string>> golden_cases() const override { return {}; }
  std::vector<RequiredRoute> required_routes() const override {
    return {{"fast", {"copy_fast"}}, {"slow", {"copy_slow"}}};
  }
  std::vector<kernels::RouteInfo> routes_on(kernels::DeviceKind) const override { return listed; }
  std::vector<Benchmark> benchmarks() const override { return {}; }
  std::vector<std::string> limits() const override { return {}; }

  std::vector<kernels::RouteInfo> listed = {
      {"copy", "fast", kernels::RouteKind::production, {"copy_fast"}, ""},
      {"copy", "slow", kernels::RouteKind::legacy, {"copy_slow"}, ""}};
};

}  // namespace assay::properties::copy_testing
