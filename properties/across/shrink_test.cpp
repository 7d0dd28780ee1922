// Shrinking, on real families whose results are damaged behind their kernels' backs.
#include "properties/repro/shrink.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "fixtures/tensor/errors.hpp"
#include "properties/gate/delegating.hpp"
#include "properties/repro/simpler.hpp"

namespace assay::properties::repro {
namespace {

/// What a fault sees of a run, and may change: inputs, outputs as they are and as they were before.
struct Damage {
  const Workload& workload;
  std::span<void*const> inputs, outputs;
  std::vector<std::byte> before;  ///< of output 0

  std::uint16_t* words(std::size_t input) const { return static_cast<std::uint16_t*>(inputs[input]); }
  std::uint8_t* bytes(std::size_t output) const { return static_cast<std::uint8_t*>(outputs[output]); }
};
using Fault = std::function<void(const Damage&)>;

class FaultyWorkload : public DelegatingWorkload {
 public:
  FaultyWorkload(std::unique_ptr<Workload> owned, const Fault& fault)
      : DelegatingWorkload(*owned), owned_(std::move(owned)), fault_(fault) {}
  void launch(std::size_t route, kernels::LaunchContext& context, std::span<void* const> inputs,
              std::span<void* const> outputs) const override {
    const OutputBuffer first = base().outputs()[0];
    Damage damage{base(), inputs, outputs, {}};
    damage.before.resize(first.elements * static_cast<std::size_t>(formats::storage_bytes(first.format)));
    std::memcpy(damage.before.data(), outputs[0], damage.before.size());
    base().launch(route, context, inputs, outputs);
    fault_(damage);
  }

 private:
  std::unique_ptr<Workload> owned_;
  const Fault& fault_;
};

/// A family whose every case is damaged by `fault`.
class FaultyFamily : public Family {
 public:
  FaultyFamily(std::string_view name, Fault fault)
      : base_(family_of(parse_case(std::string(name) + ":"))), fault_(std::move(fault)) {}

  std::unique_ptr<Workload> materialise(std::string_view token) const override {
    return faulty(base_.materialise(token));
  }
  std::unique_ptr<Workload> blank(std::string_view token) const override { return base_.blank(token); }
  std::unique_ptr<Workload> with_contents(std::string_view token, Contents contents) const override {
    return faulty(base_.with_contents(token, std::move(contents)));
  }
  std::unique_ptr<Workload> build(const std::string& text) const { return faulty(build_case(text)); }
  std::size_t route(std::string_view name) const {
    const auto routes = base_.routes();
    return static_cast<std::size_t>(
        std::find_if(routes.begin(), routes.end(), [&](const auto& one) { return one.name == name; }) -
        routes.begin());
  }

  std::string_view name() const override { return base_.name(); }
  std::string_view summary() const override { return base_.summary(); }
  std::vector<kernels::RouteInfo> routes() const override { return base_.routes(); }
  std::vector<std::string> cases(Level level, std::uint64_t seed) const override {
    return base_.cases(level, seed);
  }
  std::vector<std::string> real_inputs() const override { return {}; }
  std::vector<std::unique_ptr<Workload>> on_tensor(const fixtures::Tensor&, const std::filesystem::path&,
                                                   Level) const override {
    return {};
  }
  std::vector<Property> properties() const override { return {}; }
  std::map<std::string, std::vector<std::string>> golden_cases() const override { return {}; }
  std::vector<RequiredRoute> required_routes() const override { return base_.required_routes(); }
  std::vector<kernels::RouteInfo> routes_on(kernels::DeviceKind device) const override {
    return base_.routes_on(device);
  }
  std::vector<Benchmark> benchmarks() const override { return {}; }
  std::vector<std::string> limits() const override { return {}; }
  std::vector<std::string> readings(std::span<const OfferedTensor>, std::string_view) const override {
    return {};
  }
  std::string tells_apart(std::string_view) const override { return {}; }

 private:
  std::unique_ptr<Workload> faulty(std::unique_ptr<Workload> right) const {
    return std::make_unique<FaultyWorkload>(std::move(right), fault_);
  }
  const Family& base_;
  Fault fault_;
};

kernels::Device& cpu() { return *kernels::device(kernels::DeviceKind::cpu); }

struct Failed {
  FailureClass failure;
  std::vector<Element> wrong;
};

Failed failed(const Family& family, Workload& workload, std::size_t route) {
  Execution execution;
  const CaseResult result = judge_case(family, workload, route, cpu(), Detail::findings, &execution);
  const auto failure = class_of(result.findings);
  EXPECT_TRUE(failure) << workload.token() << " does not fail";
  return {failure.value_or(FailureClass{}), first_wrong(workload, execution)};
}

/// Shrinks, and judges the text of the result once more.
Shrunk shrunk(const FaultyFamily& family, const std::string& text, std::string_view route,
              const ShrinkOptions& options = {}) {
  const auto workload = family.build(text);
  const std::size_t index = family.route(route);
  const Failed large = failed(family, *workload, index);
  Shrunk result = shrink(family, *workload, index, cpu(), large.failure, large.wrong, options);
  const auto again = family.build(print(result.text));
  EXPECT_EQ(to_string(failed(family, *again, index).failure), to_string(large.failure)) << print(result.text);
  return result;
}

/// Data elements of a rowwise cast from bf16 go wrong where `wrong` says so of the input's code.
Fault by_input(bool (*wrong)(std::uint16_t)) {
  return [wrong](const Damage& damage) {
    const std::size_t elements = damage.workload.outputs()[0].elements;
    for (std::size_t i = 0; i < elements; ++i) {
      if (wrong(damage.words(0)[i])) damage.bytes(0)[i] ^= 0x85;
    }
  };
}

const std::string cast_case =
    "mxfp8_cast:in=bf16,rows=40,cols=384,srows=41,stride=17,offset=8,fill=normal,seed=3";

TEST(Shrink, ALocalFaultIsOneBlockWithOneElement) {
  // Numbers from 2 up.
  const FaultyFamily family("mxfp8_cast",
                            by_input([](std::uint16_t code) { return (code & 0x7FFF) >= 0x4000; }));
  const Shrunk staged = shrunk(family, cast_case, "staged");
  EXPECT_NE(staged.token.find(",rows=1,cols=32,srows=1,stride=1,fill="), std::string::npos) << staged.token;
  EXPECT_EQ(staged.elements_before, 40u * 384);
  EXPECT_EQ(staged.elements, 32u);
  EXPECT_EQ(staged.nonzero, 1u);
  EXPECT_TRUE(staged.finished);
  // Positive, a power of two; 1 is no failure.
  ASSERT_EQ(staged.text.overrides.size(), 1u);
  const std::uint32_t code =
      static_cast<std::uint32_t>(std::stoul(staged.text.overrides[0].codes, nullptr, 16));
  EXPECT_EQ(code & 0x807F, 0u) << staged.text.overrides[0].codes;
  EXPECT_GE(code, 0x4000u);
  EXPECT_EQ(staged.text.route, "staged");
  EXPECT_EQ(staged.text.device, "cpu");

  // The register route takes whole runs of four blocks alone.
  const Shrunk registers = shrunk(family, cast_case, "register");
  EXPECT_NE(registers.token.find(",rows=1,cols=128,srows=1,stride=4,fill="), std::string::npos)
      << registers.token;
  EXPECT_EQ(registers.nonzero, 1u);
}

TEST(Shrink, IsDeterministic) {
  const FaultyFamily family("mxfp8_cast", by_input([](std::uint16_t code) { return code % 251 == 7; }));
  const Shrunk first = shrunk(family, cast_case, "staged"), second = shrunk(family, cast_case, "staged");
  EXPECT_EQ(print(first.text), print(second.text));
  EXPECT_EQ(first.judgements, second.judgements);
}

TEST(Shrink, ItDoesNotSlipToAnotherFailure) {
  // Two rows are needed for wrong numbers; a single row is never written, which is another diagnostic.
  const Fault fault = [](const Damage& damage) {
    const OutputBuffer data = damage.workload.outputs()[0];
    if (data.rows == 1) {
      std::memcpy(damage.outputs[0], damage.before.data(), damage.before.size());
    } else {
      damage.bytes(0)[data.cols] ^= 0x85;
    }
  };
  const Shrunk result = shrunk(FaultyFamily("mxfp8_cast", fault), cast_case, "staged");
  EXPECT_NE(result.token.find(",rows=2,cols=32,"), std::string::npos) << result.token;
  EXPECT_EQ(result.nonzero, 0u) << "the fault needs no number";
}

TEST(Shrink, ItDoesNotSlipToAnotherPattern) {
  // A scale off by one is a pattern of its own; a few large numbers have their elements truncated away as
  // well.
  const Fault fault = [](const Damage& damage) {
    const OutputBuffer scales = damage.workload.outputs()[1];
    const std::size_t blocks = scales.rows * scales.cols;
    for (std::size_t row = 0; row < scales.rows; ++row) {
      for (std::size_t col = 0; col < scales.cols; ++col) {
        std::uint8_t& scale = damage.bytes(1)[row * scales.stride + col];
        if (blocks > 1) {
          ++scale;  // the elements stay: no known fault
        } else {
          std::memset(damage.outputs[0], 0x7F, 32);
          scale = 0xFF;
        }
      }
    }
  };
  const FaultyFamily family("mxfp8_cast", fault);
  const Shrunk result = shrunk(family, cast_case, "staged");
  EXPECT_EQ(result.elements, 64u) << print(result.text);
}

TEST(Shrink, WithoutAWrongElementBothEndsAreTried) {
  const Fault fault = [](const Damage& damage) { damage.words(0)[0] = 0x1234; };  // its input
  const Shrunk result = shrunk(FaultyFamily("mxfp8_cast", fault), cast_case, "staged");
  EXPECT_EQ(result.elements, 32u);
  EXPECT_EQ(result.nonzero, 0u);
}

TEST(Shrink, StopsWhereItIsTold) {
  const FaultyFamily family("mxfp8_cast", by_input([](std::uint16_t code) { return code % 251 == 7; }));
  ShrinkOptions options;
  options.most_judgements = 4;
  std::uint64_t told = 0;
  options.progress = [&](const char*, std::size_t) { ++told; };
  const Shrunk result = shrunk(family, cast_case, "staged", options);
  EXPECT_FALSE(result.finished);
  EXPECT_EQ(result.judgements, 4u);
  EXPECT_EQ(told, 4u);
}

TEST(Shrink, ColumnsAndPartsOfASumAreCut) {
  // The column of Y whose weights begin with an odd code goes wrong.
  const Fault fault = [](const Damage& damage) {
    const auto inputs = damage.workload.inputs();
    const OutputBuffer y = damage.workload.outputs()[0];
    const std::size_t line = inputs[1].bytes.size() / y.cols;
    for (std::size_t n = 0; n < y.cols; ++n) {
      const auto* const weights = static_cast<const std::uint8_t*>(damage.inputs[1]);
      if (weights[n * line] % 2 == 0) continue;
      for (std::size_t m = 0; m < y.rows; ++m) damage.bytes(0)[2 * (m * y.cols + n) + 1] = 0x7E;
    }
  };
  const FaultyFamily family("matmul_nbits", fault);
  const std::string contracts = "matmul_nbits:model=fp16,schedule=split_k,zp=packed,";
  const Shrunk one = shrunk(family, contracts + "m=1,n=24,k=320", "direct");
  EXPECT_NE(one.token.find(",m=1,n=1,k=32,"), std::string::npos) << one.token;
  const std::string text = print(one.text);
  EXPECT_EQ(text.substr(text.find(';')), ";zeros;b[0]=01");
  // Of two rows the pattern is that whole columns are wrong, which a single number does not show.
  const Shrunk two = shrunk(family, contracts + "m=2,n=24,k=320", "direct");
  EXPECT_NE(two.token.find(",m=2,n=2,k=32,"), std::string::npos) << two.token;
}

TEST(Shrink, AHeadOfASequenceIsLeft) {
  // o of a head whose v begins with a negative number; everything else may go.
  const Fault fault = [](const Damage& damage) {
    const OutputBuffer o = damage.workload.outputs()[0];
    for (std::size_t row = 0; row < o.rows; ++row) {
      if (damage.words(2)[row * o.cols] & 0x8000) damage.bytes(0)[2 * row * o.cols + 1] = 0x7F;
    }
  };
  const Shrunk result = shrunk(
      FaultyFamily("gated_delta", fault),
      "gated_delta:io=bf16,batch=2,steps=2,pool=4,h=2,hv=4,slots=permuted,gates=precomputed", "register");
  // Two steps, because of one the pattern is another: all of it is wrong, not some columns.
  EXPECT_NE(result.token.find(",batch=1,steps=2,h=1,hv=1,k=64,v=64,"), std::string::npos) << result.token;
  EXPECT_EQ(result.nonzero, 1u) << print(result.text);
}

TEST(Shrink, SimplerCodesAreSimpler) {
  using formats::Format;
  // -1.6171875 * 2^3 in bf16: 1, 8, -8, itself without sign, then with fewer bits.
  std::vector<std::uint32_t> codes;
  for (std::size_t how = 0; how < 8; ++how)
    codes.push_back(simplified(Format::bf16, 0xC14F, how).value_or(0));
  EXPECT_EQ(codes,
            (std::vector<std::uint32_t>{0x3F80, 0x4100, 0xC100, 0x414F, 0x4140, 0xC140, 0x4140, 0xC140}));
  EXPECT_EQ(simplified(Format::bf16, 0x3F80, 0), std::nullopt);
  EXPECT_EQ(simplified(Format::fp32, 0xFF800000, 0), 0x7F800000u);
  EXPECT_EQ(simplified(Format::fp16, 0x7C01, 0), 0x7FFFu);
  EXPECT_EQ(simplified(Format::fp16, 0x0006, 1), 0x0004u) << "of a subnormal the leading bit is left";
  EXPECT_EQ(simplified(Format::e8m0, 0x80, 0), 0x7Fu);
  EXPECT_EQ(simplified(Format::uint4, 0xA7, 3), 0x07u);
  for (const Format format : formats::all_formats)
    for (std::uint32_t code = 0; code < 256; ++code)
      for (std::size_t how = 0; how < simplifications; ++how)
        EXPECT_NE(simplified(format, code, how).value_or(code + 1), code);
}

}  // namespace
}  // namespace assay::properties::repro
