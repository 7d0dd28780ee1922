// Both routes on every device of this machine: against the schedule as a plain loop, against each other, and
// what they promise of launches and of memory that is not theirs.
#include "kernels/gated_delta/delta.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace assay::kernels::gated_delta {
namespace {

std::vector<Device*> devices() {
  std::vector<Device*> present{device(DeviceKind::cpu)};
  if (Device* cuda = device(DeviceKind::cuda)) present.push_back(cuda);
  return present;
}

/// A word that depends on the index alone (the finaliser of MurmurHash3: multiplications and shifts).
std::uint32_t mixed(std::uint32_t x) {
  x = (x ^ x >> 16) * 0x85EBCA6Bu;
  x = (x ^ x >> 13) * 0xC2B2AE35u;
  return x ^ x >> 16;
}

/// Numbers of one format in memory.
class Tensor {
 public:
  Tensor() = default;
  Tensor(bool bf16, std::size_t count) : bf16_(bf16), bytes_(count * (bf16 ? 2 : 4)) {}
  /// Of both signs, with magnitudes in [2^-spread, 2).
  static Tensor random(bool bf16, std::size_t count, std::uint32_t seed, std::uint32_t spread) {
    Tensor tensor(bf16, count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t word = mixed(static_cast<std::uint32_t>(i) * 2 + seed);
      const std::uint32_t exponent = 127 - word % (spread + 1);
      tensor.set(i, std::bit_cast<float>((word & 0x80000000u) | exponent << 23 | (mixed(word) & 0x7FFFFFu)));
    }
    return tensor;
  }

  std::size_t size() const { return bytes_.size() / (bf16_ ? 2 : 4); }
  float get(std::size_t i) const {
    if (!bf16_) return word<float>(i);
    return std::bit_cast<float>(std::uint32_t{word<std::uint16_t>(i)} << 16);
  }
  void set(std::size_t i, float value) {
    if (!bf16_) return put(i, value);
    put(i, static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(rounded(value)) >> 16));
  }
  std::vector<std::byte>& bytes() { return bytes_; }
  const std::vector<std::byte>& bytes() const { return bytes_; }

  /// To bf16, nearest even.
  static float rounded(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (std::isnan(value)) return value;
    return std::bit_cast<float>((bits + 0x7FFFu + (bits >> 16 & 1u)) & 0xFFFF0000u);
  }

 private:
  template <class T>
  T word(std::size_t i) const {
    T value;
    std::memcpy(&value, bytes_.data() + i * sizeof value, sizeof value);
    return value;
  }
  template <class T>
  void put(std::size_t i, T value) {
    std::memcpy(bytes_.data() + i * sizeof value, &value, sizeof value);
  }

  bool bf16_ = false;
  std::vector<std::byte> bytes_;
};

struct Input {
  Tensor q, k, v, a, b, a_log, dt_bias, g, beta, state;
  std::vector<std::int32_t> slots;
};

Input input_of(const Problem& p) {
  const bool bf16 = p.contracts.io == Io::bf16;
  const auto tokens = static_cast<std::size_t>(p.batch * p.steps);
  const auto keys = tokens * static_cast<std::size_t>(p.key_heads * p.key_dim);
  const auto heads = static_cast<std::size_t>(p.value_heads);
  Input input;
  input.q = Tensor::random(bf16, keys, 1, 4);
  input.k = Tensor::random(bf16, keys, 2, 4);
  input.v = Tensor::random(bf16, tokens * heads * static_cast<std::size_t>(p.value_dim), 3, 4);
  if (p.contracts.gates == Gates::raw) {
    input.a = Tensor::random(bf16, tokens * static_cast<std::size_t>(p.a_stride), 4, 3);
    input.b = Tensor::random(bf16, tokens * static_cast<std::size_t>(p.b_stride), 5, 3);
    input.a_log = Tensor::random(false, heads, 6, 3);
    input.dt_bias = Tensor::random(false, heads, 7, 3);
    // Past 20, where two of the contracts are linear.
    input.dt_bias.set(0, 20.5f);
  } else {
    input.g = Tensor::random(false, tokens * heads, 8, 4);
    for (std::size_t i = 0; i < input.g.size(); ++i) input.g.set(i, -std::fabs(input.g.get(i)));
    input.beta = Tensor::random(false, tokens * heads, 9, 4);
  }
  input.state =
      Tensor::random(p.contracts.state == State::bf16,
                     static_cast<std::size_t>(p.pool * p.value_heads * p.key_dim * p.value_dim), 10, 6);
  for (std::int64_t i = 0; i < p.batch; ++i)
    input.slots.push_back(i % 3 == 1 ? -1 - static_cast<std::int32_t>(i)
                                     : static_cast<std::int32_t>(p.pool - 1 - i));
  return input;
}

// ---- the schedule, as a plain loop -------------------------------------------------------------

/// Rounded to fp32 from 64 bits of significand: once, but for one in 2^40.
float exp_once(float x) { return static_cast<float>(std::exp(static_cast<long double>(x))); }
float log1p_once(float x) { return static_cast<float>(std::log1p(static_cast<long double>(x))); }
float log_once(float x) { return static_cast<float>(std::log(static_cast<long double>(x))); }
float softplus_once(float x) {
  const long double e = std::exp(-std::fabs(static_cast<long double>(x)));
  return static_cast<float>(std::max(static_cast<long double>(x), 0.0L) + std::log1p(e));
}
float sigmoid_once(float x) { return static_cast<float>(1 / (1 + std::exp(-static_cast<long double>(x)))); }
float rsqrt_once(float x) { return static_cast<float>(1 / std::sqrt(static_cast<long double>(x))); }

std::vector<float> normalised(const Contracts& c, const Tensor& x, std::size_t first, std::size_t count) {
  float v[32] = {};
  for (std::size_t i = 0; i < count; ++i) v[i % 32] = std::fma(x.get(first + i), x.get(first + i), v[i % 32]);
  for (std::size_t d = 16; d > 0; d /= 2)
    for (std::size_t lane = 0; lane < d; ++lane) v[lane] = v[lane] + v[lane + d];
  const float n = v[0] + (c.epsilon == Epsilon::e6 ? 1e-6f : 1e-12f);
  std::vector<float> unit(count);
  for (std::size_t i = 0; i < count; ++i)
    unit[i] = c.norm == Norm::division ? x.get(first + i) / std::sqrt(n) : x.get(first + i) * rsqrt_once(n);
  return unit;
}

struct Gate {
  float alpha, beta;
};
Gate gate_of(const Problem& p, const Input& input, std::size_t token, std::size_t head) {
  const std::size_t at = token * static_cast<std::size_t>(p.value_heads) + head;
  float g = 0, beta = 0;
  if (p.contracts.gates == Gates::precomputed) {
    g = input.g.get(at);
    beta = input.beta.get(at);
  } else {
    const float x =
        input.a.get(token * static_cast<std::size_t>(p.a_stride) + head) + input.dt_bias.get(head);
    float s = 0;
    if (p.contracts.softplus == Softplus::once) {
      s = softplus_once(x);
    } else if (x > 20) {
      s = x;
    } else {
      s = p.contracts.softplus == Softplus::log1p ? log1p_once(exp_once(x)) : log_once(1.0f + exp_once(x));
    }
    g = -(exp_once(input.a_log.get(head)) * s);
    beta = sigmoid_once(input.b.get(token * static_cast<std::size_t>(p.b_stride) + head));
  }
  return {exp_once(g), p.contracts.beta == Beta::bf16 ? Tensor::rounded(beta) : beta};
}

/// The sum of s[k] x[k] in four chains.
float chained(const std::vector<float>& s, const std::vector<float>& x) {
  const std::size_t rows = s.size() / 4;
  float p[4] = {};
  for (std::size_t k = 0; k < s.size(); ++k) p[k / rows] = std::fma(s[k], x[k], p[k / rows]);
  return ((p[0] + p[1]) + p[2]) + p[3];
}

struct Result {
  Tensor o, state;
};

Result expected_of(const Problem& p, const Input& input) {
  const auto batch = static_cast<std::size_t>(p.batch), steps = static_cast<std::size_t>(p.steps);
  const auto heads = static_cast<std::size_t>(p.value_heads),
             key_heads = static_cast<std::size_t>(p.key_heads);
  const auto keys = static_cast<std::size_t>(p.key_dim), values = static_cast<std::size_t>(p.value_dim);
  Result result{Tensor(p.contracts.io == Io::bf16, batch * steps * heads * values), input.state};
  std::vector<float> s(keys);
  for (std::size_t i = 0; i < batch; ++i) {
    if (input.slots[i] < 0) continue;  // o is +0
    for (std::size_t h = 0; h < heads; ++h) {
      for (std::size_t t = 0; t < steps; ++t) {
        const std::size_t token = i * steps + t, row = token * heads + h;
        const std::size_t key = (token * key_heads + h / (heads / key_heads)) * keys;
        const std::vector<float> k = normalised(p.contracts, input.k, key, keys);
        std::vector<float> q = normalised(p.contracts, input.q, key, keys);
        for (float& x : q) x = x * p.scale;
        const Gate gate = gate_of(p, input, token, h);
        for (std::size_t v = 0; v < values; ++v) {
          const auto at = [&](std::size_t r) {
            const std::size_t head = (static_cast<std::size_t>(input.slots[i]) * heads + h) * keys * values;
            return head + (p.contracts.layout == Layout::kv ? r * values + v : v * keys + r);
          };
          for (std::size_t r = 0; r < keys; ++r) s[r] = gate.alpha * result.state.get(at(r));
          const float u = (input.v.get(row * values + v) - chained(s, k)) * gate.beta;
          for (std::size_t r = 0; r < keys; ++r) s[r] = std::fma(k[r], u, s[r]);
          result.o.set(row * values + v, chained(s, q));
          for (std::size_t r = 0; r < keys; ++r) result.state.set(at(r), s[r]);
        }
      }
    }
  }
  return result;
}

// ---- runs --------------------------------------------------------------------------------------

struct Run {
  Result result;
  Witness witness;
};

/// Runs a route between guard zones, over an o and a workspace that hold 0xA5.
Run run(Device& on, const Route& route, Problem p, const Input& input) {
  constexpr std::byte before{0xA5};
  std::vector<std::unique_ptr<DeviceBuffer>> buffers;
  const auto upload = [&](const char* name, std::span<const std::byte> bytes,
                          std::size_t alignment) -> void* {
    if (bytes.empty()) return nullptr;
    buffers.push_back(on.allocate(name, bytes.size(), alignment));
    buffers.back()->upload(bytes);
    return buffers.back()->data();
  };
  const std::size_t io = p.contracts.io == Io::bf16 ? 2 : 4;
  Run run;
  run.result = {Tensor(io == 2, input.v.size()), input.state};
  std::fill(run.result.o.bytes().begin(), run.result.o.bytes().end(), before);
  p.q = upload("q", input.q.bytes(), io);
  p.k = upload("k", input.k.bytes(), io);
  p.v = upload("v", input.v.bytes(), io);
  p.a = upload("a", input.a.bytes(), io);
  p.b = upload("b", input.b.bytes(), io);
  p.a_log = static_cast<const float*>(upload("a_log", input.a_log.bytes(), 4));
  p.dt_bias = static_cast<const float*>(upload("dt_bias", input.dt_bias.bytes(), 4));
  p.g = static_cast<const float*>(upload("g", input.g.bytes(), 4));
  p.beta = static_cast<const float*>(upload("beta", input.beta.bytes(), 4));
  p.slots = static_cast<const std::int32_t*>(upload("slots", std::as_bytes(std::span(input.slots)), 4));
  p.slots_on_host = input.slots;
  p.workspace = upload("workspace", std::vector<std::byte>(workspace_bytes(p), before), 256);
  p.state = upload("state", input.state.bytes(), 16);
  const DeviceBuffer& state = *buffers.back();
  p.o = upload("o", run.result.o.bytes(), io);
  const DeviceBuffer& o = *buffers.back();
  const Support support = route.supports(p, on.kind());
  EXPECT_TRUE(support.supported) << route.info.name << ": " << support.reason;
  LaunchContext context{on, run.witness};
  route.run(context, p);
  on.synchronize();
  o.download(run.result.o.bytes());
  state.download(run.result.state.bytes());
  for (const auto& buffer : buffers) EXPECT_FALSE(buffer->guard_damage());
  return run;
}

std::string words(const Problem& p) {
  const Contracts& c = p.contracts;
  std::string text;
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::int64_t>>{{"batch", p.batch},
                                                         {"steps", p.steps},
                                                         {"heads", p.value_heads},
                                                         {"K", p.key_dim},
                                                         {"V", p.value_dim},
                                                         {"tuning", static_cast<int>(p.tuning)},
                                                         {"io", static_cast<int>(c.io)},
                                                         {"state", static_cast<int>(c.state)},
                                                         {"layout", static_cast<int>(c.layout)},
                                                         {"gates", static_cast<int>(c.gates)},
                                                         {"norm", static_cast<int>(c.norm)},
                                                         {"epsilon", static_cast<int>(c.epsilon)},
                                                         {"softplus", static_cast<int>(c.softplus)},
                                                         {"beta", static_cast<int>(c.beta)}})
    text += " " + name + " " + std::to_string(value);
  return text;
}

/// NaN is a class.
void expect_equal(const Tensor& actual, const Tensor& expected, const std::string& what) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const float a = actual.get(i), e = expected.get(i);
    if (std::isnan(a) ? std::isnan(e) : std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(e))
      continue;
    ADD_FAILURE() << what << "[" << i << "] is " << std::hexfloat << a << ", expected " << e;
    return;
  }
}

/// Every route that takes the problem, on every device.
void expect_the_bits_of_the_schedule(const Problem& p, const Input& input) {
  const Result expected = expected_of(p, input);
  for (Device* on : devices()) {
    unsigned ran = 0;
    for (const Route& route : routes(on->kind())) {
      if (route.info.name == "two_pass" && p.contracts.layout == Layout::vk) continue;
      const Run actual = run(*on, route, p, input);
      const std::string what =
          std::string(route.info.name) + " on " + std::string(to_string(on->kind())) + words(p);
      expect_equal(actual.result.o, expected.o, what + ": o");
      expect_equal(actual.result.state, expected.state, what + ": state");
      EXPECT_EQ(actual.witness.launches.size(), 1u) << what;
      EXPECT_EQ(actual.witness.launches_of(route.info.name == "two_pass"      ? "recurrent_two_pass"
                                           : p.contracts.layout == Layout::kv ? "recurrent_register_kv"
                                                                              : "recurrent_register_vk"),
                1u)
          << what;
      ++ran;
    }
    EXPECT_EQ(ran, p.contracts.layout == Layout::kv ? 2u : 1u);
  }
}
void expect_the_bits_of_the_schedule(const Problem& p) { expect_the_bits_of_the_schedule(p, input_of(p)); }

Problem problem_of(Layout layout, State state, std::int64_t batch = 1, std::int64_t key_dim = 64,
                   std::int64_t value_dim = 64) {
  Problem p;
  p.batch = batch;
  p.pool = batch + 1;
  p.key_heads = 1;
  p.value_heads = 2;
  p.key_dim = key_dim;
  p.value_dim = value_dim;
  p.a_stride = 3;
  p.b_stride = 5;
  p.scale = 1 / std::sqrt(static_cast<float>(key_dim));
  p.contracts.layout = layout;
  p.contracts.state = state;
  return p;
}

constexpr Layout layouts[] = {Layout::kv, Layout::vk};
constexpr State states[] = {State::fp32, State::bf16};

TEST(GatedDelta, EveryShapeOfAHead) {
  for (const Layout layout : layouts)
    for (const State state : states)
      for (const std::int64_t key_dim : {64, 128, 256})
        for (const std::int64_t value_dim : {64, 128, 256})
          expect_the_bits_of_the_schedule(problem_of(layout, state, 1, key_dim, value_dim));
}

TEST(GatedDelta, EveryContract) {
  for (const Layout layout : layouts) {
    for (const State state : states) {
      for (unsigned i = 0; i < 96; ++i) {
        Problem p = problem_of(layout, state);
        p.contracts.io = Io{static_cast<std::uint8_t>(i & 1)};
        p.contracts.norm = Norm{static_cast<std::uint8_t>(i >> 1 & 1)};
        p.contracts.epsilon = Epsilon{static_cast<std::uint8_t>(i >> 2 & 1)};
        p.contracts.beta = Beta{static_cast<std::uint8_t>(i >> 3 & 1)};
        p.contracts.gates = Gates{static_cast<std::uint8_t>(i >> 4 & 1)};
        p.contracts.softplus = Softplus{static_cast<std::uint8_t>(i >> 5)};
        if (p.contracts.gates == Gates::precomputed && i >= 32) continue;
        expect_the_bits_of_the_schedule(p);
      }
    }
  }
}

TEST(GatedDelta, StepsOfManySequences) {
  for (const Layout layout : layouts) {
    for (const State state : states) {
      Problem p = problem_of(layout, state, 5, 128, 64);
      p.steps = 3;
      p.key_heads = 2;
      p.value_heads = 6;
      p.a_stride = 6;
      p.b_stride = 7;
      p.contracts.gates = Gates::raw;
      p.contracts.io = state == State::bf16 ? Io::bf16 : Io::fp32;
      expect_the_bits_of_the_schedule(p);
    }
  }
}

/// Sequences of a second row of the grid, and of the end of the first. Few have a slot, so that the pool is
/// small.
TEST(GatedDelta, MoreSequencesThanARowOfThreadBlocks) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "thread blocks like any other, but 65,540 of them: minutes with ThreadSanitizer";
#endif
  for (const Layout layout : layouts) {
    Problem p = problem_of(layout, State::fp32, 32770);
    p.pool = 3;
    p.value_heads = 1;
    Input input = input_of(p);
    std::fill(input.slots.begin(), input.slots.end(), -1);
    input.slots[0] = 2;
    input.slots[32767] = 0;
    input.slots[32769] = 1;
    expect_the_bits_of_the_schedule(p, input);
  }
}

/// One column a lane where the columns are few for the multiprocessors, of which the cpu device has one, else
/// two. Were one of the two forms for none of its problems, it would judge the other alone.
TEST(GatedDelta, TheCpuDeviceRunsBothFormsOfTheFirstLayout) {
  Device& cpu = *device(DeviceKind::cpu);
  for (const std::int64_t batch : {2, 3}) {
    Problem p = problem_of(Layout::kv, State::fp32, batch);
    p.value_heads = 1;
    const auto ran = run(cpu, routes(DeviceKind::cpu)[0], p, input_of(p));
    ASSERT_EQ(ran.witness.launches.size(), 1u);
    EXPECT_EQ(ran.witness.launches[0].grid.x, batch == 2 ? 2u : 1u) << "thread blocks of a head";
  }
}

/// Whatever the size, and with the same bits.
TEST(GatedDelta, FormsAreTakenAsAskedFor) {
  for (unsigned i = 0; i < 24; ++i) {
    const Layout layout = layouts[i & 1];
    const bool large = (i & 4) != 0;
    Problem p = problem_of(layout, states[i >> 1 & 1], 3, 64 << i / 8);
    p.steps = 2;
    p.tuning = large ? Tuning::large : Tuning::small;
    expect_the_bits_of_the_schedule(p);
    const auto ran = run(*device(DeviceKind::cpu), routes(DeviceKind::cpu)[0], p, input_of(p));
    if (layout == Layout::kv) {
      EXPECT_EQ(ran.witness.launches.at(0).grid.x, large ? 2u : 4u) << words(p);
    } else {
      EXPECT_EQ(ran.witness.counters.count("bulk_stores"), large ? 1u : 0u) << words(p);
    }
  }
}

TEST(GatedDelta, NumbersThatAreNoNumbersStayWhereTheyBelong) {
  for (const Layout layout : layouts) {
    for (const State state : states) {
      Problem p = problem_of(layout, state, 3);
      p.steps = 2;
      p.contracts.gates = Gates::raw;
      Input input = input_of(p);
      input.a_log.set(1, 100.0f);  // exp is Inf: nothing decays to anything but 0
      input.v.set(5, INFINITY);
      input.k.set(0, NAN);  // of the first sequence, both heads
      input.q.set(static_cast<std::size_t>(2 * p.steps * p.key_dim), INFINITY);
      input.b.set(0, -INFINITY);
      input.state.set(7, 3e38f);
      expect_the_bits_of_the_schedule(p, input);
    }
  }
}

TEST(GatedDelta, RefusesInTheOrderOfItsRules) {
  for (const Device* on : devices()) {
    const DeviceKind kind = on->kind();
    const Route& in_registers = routes(kind)[0];
    const Route& two_pass = routes(kind)[1];
    EXPECT_EQ(in_registers.info.name, "register");
    EXPECT_EQ(two_pass.info.name, "two_pass");
    Problem p = problem_of(Layout::vk, State::fp32, 3);
    std::vector<std::int32_t> slots{1, -1, 1};
    p.slots_on_host = slots;
    p.state = reinterpret_cast<void*>(std::uintptr_t{8});
    p.key_heads = 3;
    p.key_dim = 96;
    p.value_dim = 512;
    p.steps = 0;
    const auto expect_both = [&](const char* reason) {
      EXPECT_EQ(in_registers.supports(p, kind).reason, reason);
      EXPECT_EQ(two_pass.supports(p, kind).reason, reason);
    };
    expect_both("no elements");
    p.steps = std::int64_t{1} << 31;
    expect_both("an extent past 32 bits");
    p.steps = 1;
    expect_both("key_dim is not 64, 128 or 256");
    p.key_dim = 256;
    expect_both("value_dim is not 64, 128 or 256");
    p.value_dim = 64;
    expect_both("value_heads % key_heads != 0");
    p.key_heads = 2;
    slots[1] = 4;
    expect_both("slot past the pool");
    slots[1] = -7;
    expect_both("two sequences in one slot");
    slots[0] = -7;
    EXPECT_EQ(in_registers.supports(p, kind).reason, "state not 16-byte aligned");
    EXPECT_EQ(two_pass.supports(p, kind).reason, "state layout is [V,K]");
    p.contracts.layout = Layout::kv;
    p.state = reinterpret_cast<void*>(std::uintptr_t{16});
    EXPECT_TRUE(in_registers.supports(p, kind).supported);
    EXPECT_TRUE(two_pass.supports(p, kind).supported);
  }
}

TEST(GatedDelta, OnlyABf16StateNeedsAWorkspace) {
  EXPECT_EQ(workspace_bytes(problem_of(Layout::kv, State::fp32, 3)), 0u);
  EXPECT_EQ(workspace_bytes(problem_of(Layout::kv, State::bf16, 3)), std::size_t{3 * 2 * 64 * 64 * 4});
}

}  // namespace
}  // namespace assay::kernels::gated_delta
