// The gate judged on a made-up family whose "kernel" is a lambda: everything it must reject is planted once
// and seen.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "oracles/arithmetic/acceptance.hpp"
#include "properties/gate/damage.hpp"
#include "properties/gate/judge.hpp"
#include "properties/gate/recorder.hpp"
#include "properties/gate/report.hpp"
#include "properties/gate/runner.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define ASSAY_GUARDS_ARE_POISONED 1
#elif defined(__has_feature)
#define ASSAY_GUARDS_ARE_POISONED __has_feature(address_sanitizer)
#else
#define ASSAY_GUARDS_ARE_POISONED 0
#endif

namespace assay::properties {
namespace {

using kernels::LaunchContext;

constexpr std::size_t rows = 4, cols = 6, stride = 8;

/// Copies x [4, 6] into a padded output [4, 8] of e4m3 codes, padding untouched. `body` is what "ran".
struct Body {
  std::function<void(LaunchContext&, const std::uint8_t*, std::uint8_t*)> run;
  bool second_run = false;
};

void copy_right(const std::uint8_t* x, std::uint8_t* y) {
  for (std::size_t r = 0; r < rows; ++r) std::memcpy(y + r * stride, x + r * cols, cols);
}

void record(LaunchContext& context, const char* kernel) {
  context.witness.launches.push_back({kernel, {}, {}, 0});
}

class CopyWorkload : public Workload {
 public:
  explicit CopyWorkload(std::function<void(LaunchContext&, const std::uint8_t*, std::uint8_t*)> body)
      : body_(std::move(body)) {
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
  std::function<void(LaunchContext&, const std::uint8_t*, std::uint8_t*)> body_;
};

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

CaseResult judge(std::function<void(LaunchContext&, const std::uint8_t*, std::uint8_t*)> body) {
  CopyWorkload workload(std::move(body));
  return judge_case(CopyFamily{}, workload, 0, *kernels::device(kernels::DeviceKind::cpu));
}

/// One finding with that code; its text for further looks.
std::string only(const CaseResult& result, Code code) {
  EXPECT_EQ(result.verdict, code == Code::kernel_fault ? Verdict::error : Verdict::fail);
  EXPECT_EQ(result.findings.size(), 1u);
  if (result.findings.empty()) return "";
  EXPECT_EQ(result.findings[0].code, code) << text_finding(result.findings[0]);
  return text_finding(result.findings[0]);
}

TEST(Gate, RightKernelPassesAndEarnsIt) {
  const CaseResult result = judge([](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
    record(context, "copy_fast");
    copy_right(x, y);
  });
  EXPECT_EQ(result.verdict, Verdict::pass);
  EXPECT_EQ(result.elements, rows * stride);
  EXPECT_GT(result.probes, 0u);
}

TEST(Gate, WrongElement) {
  const std::string text = only(judge([](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
                                  record(context, "copy_fast");
                                  copy_right(x, y);
                                  y[2 * stride + 3] = 0x7F;
                                }),
                                Code::wrong_code);
  EXPECT_NE(text.find("y[2, 3]"), std::string::npos) << text;
  EXPECT_NE(text.find("actual 0x7F = NaN"), std::string::npos) << text;
}

TEST(Gate, StaleRowsAreNamed) {
  const std::string text = only(judge([](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
                                  record(context, "copy_fast");
                                  std::memcpy(y, x, cols);
                                }),
                                Code::not_written);
  EXPECT_NE(text.find("rows 1.. stale"), std::string::npos) << text;
}

TEST(Gate, StaleElement) {
  only(judge([](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
         record(context, "copy_fast");
         const std::uint8_t old = y[stride + 1];
         copy_right(x, y);
         y[stride + 1] = old;
       }),
       Code::not_written);
}

TEST(Gate, PaddingWritten) {
  only(judge([](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
         record(context, "copy_fast");
         copy_right(x, y);
         y[cols] = 0;
       }),
       Code::padding_written);
}

#if !ASSAY_GUARDS_ARE_POISONED  // there the sanitizer stops the write itself, which the runtime's tests show
TEST(Gate, WriteOutsideTheBuffer) {
  only(judge([](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
         record(context, "copy_fast");
         copy_right(x, y);
         *(y - 1) = static_cast<std::uint8_t>(*(y - 1) + 1);
       }),
       Code::guard_damaged);
}
#endif

TEST(Gate, InputModified) {
  only(judge([](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
         record(context, "copy_fast");
         copy_right(x, y);
         ++*const_cast<std::uint8_t*>(x + 5);
       }),
       Code::input_modified);
}

TEST(Gate, SilentFallbackIsNamedThoughTheNumbersAreRight) {
  const std::string text = only(judge([](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
                                  record(context, "copy_slow");
                                  record(context, "copy_slow");
                                  copy_right(x, y);
                                }),
                                Code::wrong_witness);
  EXPECT_NE(text.find("route fell back"), std::string::npos) << text;
}

TEST(Gate, NothingLaunched) {
  only(judge([](LaunchContext&, const std::uint8_t* x, std::uint8_t* y) { copy_right(x, y); }),
       Code::wrong_witness);
}

TEST(Gate, CountersAreThoseOfTheCase) {
  CopyWorkload workload([](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
    record(context, "copy_fast");
    context.witness.counters["stores.direct"] = 2;
    context.witness.counters["executor.blocks"] = 7;
    copy_right(x, y);
  });
  kernels::Device& cpu = *kernels::device(kernels::DeviceKind::cpu);
  const std::string text = only(judge_case(CopyFamily{}, workload, 0, cpu), Code::wrong_witness);
  EXPECT_NE(text.find("stores.direct = 2"), std::string::npos) << text;
  workload.counters = {{"stores.direct", 2}};
  EXPECT_EQ(judge_case(CopyFamily{}, workload, 0, cpu).verdict, Verdict::pass);
  workload.counters["stores.declined"] = 1;
  only(judge_case(CopyFamily{}, workload, 0, cpu), Code::wrong_witness);
}

TEST(Gate, KernelFault) {
  const std::string text =
      only(judge([](LaunchContext&, const std::uint8_t*, std::uint8_t*) {
             throw executor::ExecutorError(executor::FaultKind::deadlock, "copy_fast: no lane can run");
           }),
           Code::kernel_fault);
  EXPECT_NE(text.find("no lane can run"), std::string::npos) << text;
}

TEST(Gate, RunsThatDifferInsideTheInterval) {
  int run = 0;
  CopyWorkload workload([&run](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
    record(context, "copy_fast");
    copy_right(x, y);
    y[0] = static_cast<std::uint8_t>(y[0] + run++);
  });
  workload.acceptance_[0].hi = workload.acceptance_[0].lo;
  workload.acceptance_[0].hi[0] = static_cast<std::byte>(0x23);
  only(judge_case(CopyFamily{}, workload, 0, *kernels::device(kernels::DeviceKind::cpu)),
       Code::not_deterministic);
}

TEST(Gate, AcceptingEverythingIsNotAPass) {
  CopyWorkload workload([](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
    record(context, "copy_fast");
    std::memset(y, 0x30, rows * stride);
    copy_right(x, y);
  });
  auto& acceptance = workload.acceptance_[0];
  acceptance.untouched.clear();
  acceptance.lo.assign(acceptance.lo.size(), std::byte{0xFE});  // -448 .. 448
  acceptance.hi.assign(acceptance.lo.size(), std::byte{0x7E});
  const CaseResult result = judge_case(CopyFamily{}, workload, 0, *kernels::device(kernels::DeviceKind::cpu));
  EXPECT_EQ(result.verdict, Verdict::fail);
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings[0].code, Code::probe_missed);
}

TEST(Gate, UnsupportedOnlyByTheFamilysRule) {
  CopyWorkload workload([](LaunchContext&, const std::uint8_t*, std::uint8_t*) {});
  kernels::Device& cpu = *kernels::device(kernels::DeviceKind::cpu);
  EXPECT_EQ(judge_case(CopyFamily{}, workload, 1, cpu).verdict, Verdict::unsupported);
  workload.refusal = "I would rather not";
  only(judge_case(CopyFamily{}, workload, 1, cpu), Code::unlisted_unsupported);
  workload.refusal.clear();  // takes what it has to refuse
  only(judge_case(CopyFamily{}, workload, 1, cpu), Code::unlisted_unsupported);
  workload.refuse_first = true;  // refuses what it has to take
  only(judge_case(CopyFamily{}, workload, 0, cpu), Code::unlisted_unsupported);
}

TEST(Gate, RoutesAreThoseTheFamilyRequires) {
  const auto kind = kernels::DeviceKind::cpu;
  CopyFamily family;
  EXPECT_TRUE(check_routes(family, kind).empty());
  std::swap(family.listed[0], family.listed[1]);
  EXPECT_FALSE(check_routes(family, kind).empty()) << "another order";
  family = CopyFamily{};
  family.listed.pop_back();
  EXPECT_FALSE(check_routes(family, kind).empty()) << "a route vanished";
  family = CopyFamily{};
  family.listed[0].kernels = {"copy_slow"};
  EXPECT_FALSE(check_routes(family, kind).empty()) << "a route declares another's kernels";
  family = CopyFamily{};
  family.listed.push_back({"copy", "third", kernels::RouteKind::experiment, {"copy_fast"}, ""});
  EXPECT_FALSE(check_routes(family, kind).empty()) << "a route nobody asked for";
}

TEST(Gate, ExitCodes) {
  GateResult result;
  EXPECT_EQ(result.exit_code(), exit_vacuous) << "no row at all";
  Row row;
  row.cases = 1;
  row.elements = 10;
  result.rows = {row};
  EXPECT_EQ(result.exit_code(), exit_pass);
  result.rows.push_back(Row{});
  EXPECT_EQ(result.exit_code(), exit_vacuous) << "a row in which nothing was compared";
  result.rows[1].unsupported = 3;
  EXPECT_EQ(result.exit_code(), exit_pass) << "a route that takes none of the cases, by name";
  result.every_row_must_compare = true;
  EXPECT_EQ(result.exit_code(), exit_vacuous) << "but not among built-in cases";
  result.rows = {row, Row{}};
  result.rows[0].kernels = {"copy_fast"};
  result.rows.pop_back();
  EXPECT_EQ(result.exit_code(), exit_vacuous) << "a kernel that never ran";
  result.rows[0].launches["copy_fast"] = 1;
  EXPECT_EQ(result.exit_code(), exit_pass);
  result.rows.push_back(Row{});
  result.every_row_must_compare = false;
  result.rows.erase(result.rows.begin());
  EXPECT_EQ(result.exit_code(), exit_vacuous) << "and no other";
  result.rows[0].failed = 1;
  EXPECT_EQ(result.exit_code(), exit_fail);
  result.rows = {row};
  result.properties_failed = 1;
  EXPECT_EQ(result.exit_code(), exit_fail);
}

TEST(Gate, PoisonsDifferEverywhereAndMove) {
  std::size_t moved = 0;
  for (std::size_t i = 0; i + 1 < 4096; ++i) moved += poison(i) != poison(i + 1);
  EXPECT_GT(moved, 4000u);
  CopyWorkload workload([](LaunchContext&, const std::uint8_t*, std::uint8_t*) {});
  const Execution execution = execute(workload, 0, *kernels::device(kernels::DeviceKind::cpu));
  for (std::size_t i = 0; i < rows * stride; ++i) {
    EXPECT_EQ(execution.first[0][i], poison(i));
    EXPECT_EQ(execution.second[0][i], ~poison(i));
  }
}

}  // namespace
}  // namespace assay::properties
