// Every route on every device of this machine, against the oracle to the bit; what the routes promise of
// launches and counters; and what they refuse.
#include "kernels/matmul_nbits/matmul.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/matmul_nbits/node.hpp"
#include "oracles/formats/codec.hpp"
#include "oracles/matmul_nbits/oracle.hpp"

namespace assay::kernels::matmul_nbits {
namespace {

namespace oracle = oracles::matmul_nbits;
using formats::Format;

std::vector<Device*> devices() {
  std::vector<Device*> present{device(DeviceKind::cpu)};
  if (Device* cuda = device(DeviceKind::cuda)) present.push_back(cuda);
  return present;
}

const Route& route_named(DeviceKind kind, std::string_view name) {
  const auto all = routes(kind);
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Route& route) { return route.info.name == name; });
  EXPECT_NE(found, all.end()) << name;
  return *found;
}

constexpr Format formats_of_models[] = {Format::fp16, Format::bf16, Format::fp32};
Format format_of(Model model) { return formats_of_models[static_cast<int>(model)]; }

oracle::Contracts contracts_of(const Problem& p) {
  oracle::Contracts contracts;
  contracts.model = format_of(p.model);
  contracts.schedule = oracle::Schedule{static_cast<std::uint8_t>(p.schedule)};
  contracts.k_split = p.k_split;
  contracts.tensor_cores = oracle::TensorCores{static_cast<std::uint8_t>(p.tensor_cores)};
  contracts.bias_round = oracle::BiasRound{static_cast<std::uint8_t>(p.bias_round)};
  return contracts;
}

oracle::Shape shape_of(const Problem& p) {
  return {static_cast<std::size_t>(p.m), static_cast<std::size_t>(p.n), static_cast<std::size_t>(p.k), p.bits,
          p.block};
}

/// The case of a test: a problem without pointers, and which of the optional operands it has.
struct Case {
  Problem problem;
  bool zero_points = true, bias = true;
};

struct Input {
  std::vector<std::byte> a, b, scales, zero_points, bias;
};

/// A word that depends on the index alone (the finaliser of MurmurHash3: multiplications and shifts).
std::uint32_t mixed(std::uint32_t x) {
  x = (x ^ x >> 16) * 0x85EBCA6Bu;
  x = (x ^ x >> 13) * 0xC2B2AE35u;
  return x ^ x >> 16;
}

/// Codes with exponents within `spread` of 1.0, both signs.
std::vector<std::byte> floats(Format format, std::size_t count, std::uint32_t seed, std::uint32_t spread) {
  const formats::Spec& spec = formats::spec(format);
  const int bytes = formats::storage_bytes(format);
  std::vector<std::byte> codes(count * static_cast<std::size_t>(bytes));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t random = mixed(static_cast<std::uint32_t>(i) * 2 + seed);
    const std::uint32_t mantissa = mixed(random) & ((std::uint32_t{1} << spec.mantissa_bits) - 1);
    const std::uint32_t exponent = static_cast<std::uint32_t>(spec.bias) - random % (spread + 1);
    const std::uint32_t code = (random >> 31) << (spec.bits - 1) | exponent << spec.mantissa_bits | mantissa;
    arithmetic::store_code(codes, bytes, i, code);
  }
  return codes;
}

std::vector<std::byte> noise(std::size_t count, std::uint32_t seed) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<std::byte>(mixed(static_cast<std::uint32_t>(i) + seed));
  return bytes;
}

Input input_of(const Case& test) {
  const oracle::Shape shape = shape_of(test.problem);
  const Format format = format_of(test.problem.model);
  Input input;
  input.a = floats(format, shape.m * shape.k, 1, 6);
  input.b = noise(shape.n * shape.row_bytes(), 2);
  input.scales = floats(format, shape.n * shape.blocks(), 3, 4);
  if (test.zero_points) input.zero_points = noise(shape.n * shape.zero_point_row_bytes(), 4);
  if (test.bias) input.bias = floats(format, shape.n, 5, 2);
  return input;
}

struct Run {
  std::vector<std::byte> y;
  Witness witness;
};

/// Runs a route between guard zones, over an output and a workspace that hold 0xA5.
Run run(Device& on, const Route& route, const Case& test, const Input& input) {
  constexpr std::byte before{0xA5};
  Run result;
  Problem p = test.problem;
  result.y.assign(static_cast<std::size_t>(p.m * p.n) * (p.model == Model::fp32 ? 4 : 2), before);
  std::vector<std::unique_ptr<DeviceBuffer>> buffers;
  const auto upload = [&](const char* name, const std::vector<std::byte>& bytes,
                          std::size_t alignment) -> void* {
    if (bytes.empty()) return nullptr;
    buffers.push_back(on.allocate(name, bytes.size(), alignment));
    buffers.back()->upload(bytes);
    return buffers.back()->data();
  };
  p.a = upload("a", input.a, 16);
  p.b = static_cast<const std::uint8_t*>(upload("b", input.b, 16));
  p.scales = upload("scales", input.scales, p.model == Model::fp32 ? 4 : 2);
  p.zero_points = static_cast<const std::uint8_t*>(upload("zero_points", input.zero_points, 1));
  p.bias = upload("bias", input.bias, p.model == Model::fp32 ? 4 : 2);
  p.workspace = upload("workspace", std::vector<std::byte>(workspace_bytes(p), before), 256);
  p.y = upload("y", result.y, p.model == Model::fp32 ? 4 : 2);
  const DeviceBuffer& y = *buffers.back();
  const Support support = route.supports(p, on.kind());
  EXPECT_TRUE(support.supported) << route.info.name << ": " << support.reason;
  LaunchContext context{on, result.witness};
  route.run(context, p);
  on.synchronize();
  y.download(result.y);
  for (const auto& buffer : buffers) EXPECT_FALSE(buffer->guard_damage());
  return result;
}

std::string words(const Case& test, std::string_view route) {
  const Problem& p = test.problem;
  std::string text(route);
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::int64_t>>{
           {"m", p.m},
           {"n", p.n},
           {"k", p.k},
           {"bits", p.bits},
           {"block", p.block},
           {"model", static_cast<int>(p.model)},
           {"schedule", static_cast<int>(p.schedule)},
           {"split", p.k_split},
           {"prefetch", p.prefetch},
           {"zero points", test.zero_points},
           {"bias", test.bias ? 1 + static_cast<int>(p.bias_round) : 0}})
    text += " " + name + " " + std::to_string(value);
  return text;
}

/// Runs the route on every device and compares every code with the oracle's.
Witness expect_as_the_oracle_says(std::string_view name, const Case& test) {
  const Input input = input_of(test);
  const Format format = format_of(test.problem.model);
  const auto accepted = oracle::accept(contracts_of(test.problem), shape_of(test.problem),
                                       {input.a, input.b, input.scales, input.zero_points, input.bias});
  EXPECT_TRUE(accepted.exact());
  Witness witness;
  for (Device* on : devices()) {
    const Run result = run(*on, route_named(on->kind(), name), test, input);
    const int bytes = formats::storage_bytes(format);
    for (std::size_t i = 0; i < accepted.size(); ++i) {
      const std::uint32_t expected = arithmetic::load_code(accepted.lo, bytes, i);
      const std::uint32_t actual = arithmetic::load_code(result.y, bytes, i);
      if (formats::is_nan(format, expected) ? formats::is_nan(format, actual) : actual == expected) continue;
      ADD_FAILURE() << words(test, name) << " on " << to_string(on->kind()) << ": element " << i << " is "
                    << std::hex << actual << ", expected " << expected;
      break;
    }
    witness = result.witness;
  }
  return witness;
}

Problem problem_of(Schedule schedule, Model model, std::int64_t m, std::int64_t n, std::int64_t k) {
  Problem p;
  p.schedule = schedule;
  p.model = model;
  p.m = m;
  p.n = n;
  p.k = k;
  return p;
}

TEST(MatmulNbits, SplitKGivesTheBitsOfItsSchedule) {
  for (const Model model : {Model::fp16, Model::bf16}) {
    for (const unsigned split : {2u, 8u}) {
      for (const std::int64_t k : {1, 7, 8, 31, 33, 255, 256, 261, 777, 2048, 2309}) {
        Problem p = problem_of(Schedule::split_k, model, 1, 21, k);
        p.k_split = split;
        expect_as_the_oracle_says("direct", {p, k % 2 == 0, k % 3 == 0});
      }
    }
  }
}

TEST(MatmulNbits, SplitKStagesAMoreThanOnce) {
  for (const unsigned split : {2u, 8u})
    for (const unsigned prefetch : {0u, 2u, 4u})
      for (const std::int64_t k : {16384, 16500, 33001}) {
        Problem p = problem_of(Schedule::split_k, Model::bf16, 1, 5, k);
        p.k_split = split;
        p.prefetch = prefetch;
        expect_as_the_oracle_says("direct", {p});
      }
}

TEST(MatmulNbits, ManyColumnsAWarpGiveTheSameBits) {
  // More columns than are resident at once on the executor, or on a GPU; slices of whole groups of chunks,
  // and not.
  const std::int64_t n = devices().size() == 1 ? 133 : 64 * 132 + 5;
  for (const unsigned prefetch : {0u, 2u, 4u}) {
    for (const std::int64_t k : {300, 2048, 4096}) {
      Problem p = problem_of(Schedule::split_k, Model::bf16, 1, n, k);
      p.prefetch = prefetch;
      expect_as_the_oracle_says("direct", {p, k == 2048});
    }
  }
}

TEST(MatmulNbits, WholeGroupsOfChunksInEightSlices) {
  for (const unsigned prefetch : {0u, 2u, 4u}) {
    for (const std::int64_t k : {2048, 8192}) {
      Problem p = problem_of(Schedule::split_k, Model::fp16, 1, 9, k);
      p.k_split = 8;
      p.prefetch = prefetch;
      expect_as_the_oracle_says("direct", {p, prefetch == 2});
    }
  }
}

TEST(MatmulNbits, BothBiasContracts) {
  for (const BiasRound round : {BiasRound::once, BiasRound::twice}) {
    for (const Schedule schedule : {Schedule::split_k, Schedule::tile, Schedule::mma}) {
      Problem p = problem_of(schedule, Model::bf16, 1, 40, 96);
      p.bias_round = round;
      const std::string_view names[] = {"direct", "", "", "tile", "mma"};
      expect_as_the_oracle_says(names[static_cast<int>(schedule)], {p});
    }
  }
}

TEST(MatmulNbits, ColumnSchedules) {
  for (const std::int64_t n : {1, 4, 33})
    for (const std::int64_t k : {32, 96, 1024, 1120}) {
      expect_as_the_oracle_says("multicol", {problem_of(Schedule::multicol, Model::fp16, 1, n, k), k != 96});
      expect_as_the_oracle_says("natural", {problem_of(Schedule::natural, Model::fp16, 1, n, k), k != 96});
    }
}

TEST(MatmulNbits, GeneralWeights) {
  for (const unsigned bits : {2u, 4u, 8u}) {
    for (const unsigned block : {16u, 32u, 64u, 128u, 256u}) {
      for (const Model model : {Model::fp16, Model::bf16, Model::fp32}) {
        Problem p = problem_of(Schedule::tile, model, 3, 18, 300);
        p.bits = bits;
        p.block = block;
        expect_as_the_oracle_says("tile", {p, block != 64, block != 128});
        if (model == Model::fp32) continue;
        p.schedule = Schedule::mma;
        p.k = 75;
        expect_as_the_oracle_says("mma", {p, block != 64, block != 128});
      }
    }
  }
}

TEST(MatmulNbits, TensorCoreTiles) {
  for (const std::int64_t m : {1, 16, 17, 33, 65})
    for (const std::int64_t n : {1, 8, 9, 65}) {
      expect_as_the_oracle_says("mma", {problem_of(Schedule::mma, Model::fp16, m, n, 48)});
    }
}

TEST(MatmulNbits, AnOfferIsTakenByALaunchThatWritesEverything) {
  const Case one{problem_of(Schedule::split_k, Model::bf16, 1, 21, 64)};
  const Witness direct = expect_as_the_oracle_says("direct", one);
  EXPECT_EQ(direct.counters.at("direct_store.accepted"), 1u);
  EXPECT_EQ(direct.counters.count("cast.launches"), 0u);
  EXPECT_EQ(direct.launches.size(), 1u);

  const Witness staged = expect_as_the_oracle_says("staged", one);
  EXPECT_EQ(staged.counters.at("direct_store.withheld"), 1u);
  EXPECT_EQ(staged.counters.at("cast.launches"), 1u);
  EXPECT_EQ(staged.launches_of("narrow_staging"), 1u);
}

TEST(MatmulNbits, ARowLoopTakesNoOffer) {
  const Witness rows =
      expect_as_the_oracle_says("direct", {problem_of(Schedule::split_k, Model::bf16, 3, 21, 64)});
  EXPECT_EQ(rows.launches_of("gemv_split_k"), 3u);
  EXPECT_EQ(rows.counters.count("direct_store.accepted"), 0u);
  EXPECT_EQ(rows.counters.at("direct_store.declined: not the whole result"), 1u);
  EXPECT_EQ(rows.counters.at("direct_store.declined: another pointer"), 2u);
  EXPECT_EQ(rows.counters.at("cast.launches"), 1u);
}

TEST(MatmulNbits, PrefillTakesNoOffer) {
  for (const std::string_view name : {"mma", "dispatch"}) {
    const Witness prefill =
        expect_as_the_oracle_says(name, {problem_of(Schedule::mma, Model::bf16, 9, 21, 64)});
    EXPECT_EQ(prefill.counters.at("direct_store.declined: no narrowing store"), 1u);
    EXPECT_EQ(prefill.counters.at("cast.launches"), 1u);
  }
}

}  // namespace
}  // namespace assay::kernels::matmul_nbits
