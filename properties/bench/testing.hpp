// A made-up family and a timer without a device, for the tests of this folder.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/runtime/timer.hpp"
#include "properties/gate/family.hpp"

namespace assay::properties::bench {

inline constexpr std::size_t test_rows = 4, test_cols = 8, test_stride = 10;

using Body = std::function<void(kernels::LaunchContext&, const std::uint8_t*, std::uint8_t*)>;

/// Copies the rows of x [4, 8] into y [4, 10], whose padding stays untouched.
inline void copy_rows(const std::uint8_t* x, std::uint8_t* y) {
  for (std::size_t r = 0; r < test_rows; ++r) std::memcpy(y + r * test_stride, x + r * test_cols, test_cols);
}

inline Body copying(const char* kernel) {
  return [kernel](kernels::LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
    context.witness.launches.push_back({kernel, {}, {}, 0});
    copy_rows(x, y);
  };
}

/// What the routes of the family below do.
struct Bodies {
  Body fast = copying("copy_fast"), slow = copying("copy_slow"), third = copying("copy_third");
  bool slow_refuses = false;
  std::size_t scratch_bytes = 0;   ///< 0: the workload asks for none
  std::vector<std::byte> initial;  ///< not empty: y is updated in place and begins so
  /// What `fast` and the others do on y and the scratch memory after that.
  std::function<void(std::uint8_t*y, std::uint8_t*scratch)> fast_scratch, slow_scratch;
};

class RowsWorkload final : public Workload {
 public:
  RowsWorkload(std::string token, const Bodies& bodies) : token_(std::move(token)), bodies_(bodies) {
    for (std::size_t i = 0; i < test_rows * test_cols; ++i) x_.push_back(static_cast<std::byte>(0x21 + i));
  }
  std::string token() const override { return token_; }
  std::vector<InputBuffer> inputs() const override { return {{"x", formats::Format::e4m3, x_, 16}}; }
  std::vector<OutputBuffer> outputs() const override {
    OutputBuffer y{"y",        formats::Format::e4m3, test_rows * test_stride, 16, test_rows, test_cols,
                   test_stride};
    y.initial = bodies_.initial;
    return {y};
  }
  std::vector<ScratchBuffer> scratch() const override {
    if (bodies_.scratch_bytes == 0) return {};
    return {{"workspace", bodies_.scratch_bytes, 256}};
  }
  const std::vector<arithmetic::Acceptance>& acceptance() override {
    throw std::logic_error("a bench asks for no oracle");
  }
  kernels::Support supports(std::size_t route, kernels::DeviceKind) const override {
    return route == 1 && bodies_.slow_refuses ? kernels::Support::no("cols are odd")
                                              : kernels::Support::yes();
  }
  kernels::Support expected_support(std::size_t, kernels::DeviceKind) const override {
    return kernels::Support::yes();
  }
  ExpectedWitness expected_witness(std::size_t route) const override {
    constexpr const char* kernels[] = {"copy_fast", "copy_slow", "copy_third"};
    return {{kernels[route]}, {}};
  }
  void launch(std::size_t route, kernels::LaunchContext& context, std::span<void* const> in,
              std::span<void* const> out) const override {
    const Body& body = route == 0 ? bodies_.fast : route == 1 ? bodies_.slow : bodies_.third;
    body(context, static_cast<const std::uint8_t*>(in[0]), static_cast<std::uint8_t*>(out[0]));
    const auto& more = route == 0 ? bodies_.fast_scratch : bodies_.slow_scratch;
    if (more) more(static_cast<std::uint8_t*>(out[0]), static_cast<std::uint8_t*>(out[1]));
  }
  std::vector<Diagnosis> diagnose(const Contents&, const Contents&) override { return {}; }
  std::vector<Reduction> reductions(std::size_t, std::size_t) const override { return {}; }

 private:
  std::string token_;
  const Bodies& bodies_;
  std::vector<std::byte> x_;
};

inline Benchmark rows_benchmark(const std::string& name, std::vector<std::string> routes = {"fast", "slow"}) {
  return {name, "rows:" + name, std::move(routes), test_rows * test_cols, test_rows * test_cols};
}

/// Three routes: fast (production), slow (legacy), third (experiment).
class RowsFamily : public Family {
 public:
  std::string_view name() const override { return "rows"; }
  std::string_view summary() const override { return ""; }
  std::vector<kernels::RouteInfo> routes() const override {
    return {{"rows", "fast", kernels::RouteKind::production, {"copy_fast"}, ""},
            {"rows", "slow", kernels::RouteKind::legacy, {"copy_slow"}, ""},
            {"rows", "third", kernels::RouteKind::experiment, {"copy_third"}, ""}};
  }
  std::vector<std::string> cases(Level, std::uint64_t) const override { return {}; }
  std::unique_ptr<Workload> blank(std::string_view) const override { return nullptr; }
  std::unique_ptr<Workload> with_contents(std::string_view, Contents) const override { return nullptr; }
  std::unique_ptr<Workload> materialise(std::string_view token) const override {
    ++materialised;
    return std::make_unique<RowsWorkload>(std::string(token), bodies);
  }
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
  std::vector<RequiredRoute> required_routes() const override { return {}; }
  std::vector<kernels::RouteInfo> routes_on(kernels::DeviceKind) const override { return routes(); }
  std::vector<Benchmark> benchmarks() const override { return listed; }
  std::vector<std::string> limits() const override { return {}; }

  Bodies bodies;
  std::vector<Benchmark> listed = {rows_benchmark("rowwise, 4 x 8"), rows_benchmark("colwise, 4 x 8")};
  mutable int materialised = 0;
};

/// Runs contenders on the host and hands out the times it is given, by contender and then by run; the last
/// one again when they run out.
class MadeUpTimer final : public kernels::Timer {
 public:
  explicit MadeUpTimer(std::vector<std::vector<double>> times)
      : Timer(std::chrono::milliseconds(0)), times_(std::move(times)) {}

  void copy(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  kernels::KernelResources resources(const kernels::LaunchRecord& launch) const override {
    return {launch.kernel, 30, 1024, launch.dynamic_shared_bytes, 8, 1024, 256, 0.75};
  }
  std::size_t l2_bytes() const override { return 1000; }
  std::size_t cold_bytes() const override { return 2000; }

 protected:
  void make_cold(unsigned) override { cold_ = true; }
  void start() override {}
  void stop() override {}
  bool started() override { return false; }
  double elapsed() override {
    if (!cold_) return 0;  // warming up
    cold_ = false;
    const std::vector<double>& own = times_[given_ % times_.size()];
    const std::size_t run = given_++ / times_.size();
    return own[run < own.size() ? run : own.size() - 1];
  }

 private:
  std::vector<std::vector<double>> times_;
  std::size_t given_ = 0;
  bool cold_ = false;
};

}  // namespace assay::properties::bench
