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

  std::string refusal = "rows are odd";  ///< of route 1; empty: it takes everything
  bool refuse_first = false;
  std::map<std::string, std::uint64_t> counters;  ///< that route 0 has to show
  std::vector<arithmetic::Acceptance> acceptance_;

 private:
  std::vector<std::byte> x_;
  CopyBody body_;
};

/// Two routes: fast (production), slow (legacy).
class CopyFamily : public Family {
 public:
  std::string_view name() const override { return "copy"; }
  std::string_view summary() const override { return ""; }
  std::vector<kernels::RouteInfo> routes() const override { return listed; }
  std::vector<std::string> cases(Level, std::uint64_t) const override { return {}; }
  std::unique_ptr<Workload> materialise(std::string_view) const override { return nullptr; }
  std::vector<std::unique_ptr<Workload>> on_tensor(const fixtures::Tensor&, const std::filesystem::path&,
                                                   Level) const override {
    return {};
  }
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
