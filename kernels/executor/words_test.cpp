// The CUDA words that need no scheduler, against their definitions spelt out bit by bit.
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <thread>
#include <type_traits>
#include <vector>

#include "kernels/executor/cuda_words.hpp"
#include "kernels/executor/executor.hpp"
#include "kernels/executor/permutation.hpp"

namespace assay::executor {
namespace {

template <class T, std::size_t size, std::size_t alignment>
constexpr bool laid_out = sizeof(T) == size && alignof(T) == alignment;
static_assert(laid_out<char1, 1, 1> && laid_out<char2, 2, 2> && laid_out<char3, 3, 1> &&
              laid_out<char4, 4, 4>);
static_assert(laid_out<uchar4, 4, 4> && laid_out<short2, 4, 4> && laid_out<ushort3, 6, 2> &&
              laid_out<ushort4, 8, 8>);
static_assert(laid_out<int2, 8, 8> && laid_out<uint3, 12, 4> && laid_out<uint4, 16, 16> &&
              laid_out<float2, 8, 8>);
static_assert(laid_out<float3, 12, 4> && laid_out<float4, 16, 16> && laid_out<double1, 8, 8>);
static_assert(laid_out<double2, 16, 16> && laid_out<ulonglong2, 16, 16> && laid_out<longlong4, 32, 16>);
static_assert(std::is_same_v<decltype(threadIdx.x), unsigned> &&
              std::is_same_v<decltype(blockDim.z), unsigned>);
static_assert(dim3(5).y == 1 && dim3(uint3{2, 3, 4}).z == 4 && warpSize == 32);

/// Every single bit, every pair of neighbours, the extremes, and 10000 mixed words.
std::vector<std::uint64_t> samples() {
  std::vector<std::uint64_t> all{0, ~std::uint64_t{0}};
  for (unsigned i = 0; i < 64; ++i) {
    all.push_back(std::uint64_t{1} << i);
    all.push_back(std::uint64_t{3} << i);
    all.push_back(~(std::uint64_t{1} << i));
  }
  for (std::uint64_t i = 0; i < 10000; ++i) all.push_back(detail::mix(i) >> detail::mix(i + 1) % 60);
  return all;
}

unsigned bit(std::uint64_t v, unsigned i) { return static_cast<unsigned>(v >> i) & 1u; }

template <unsigned bits>
void check_counts(std::uint64_t v, int popc, int clz, int ffs, std::uint64_t brev) {
  int ones = 0, leading = 0, first = 0;
  std::uint64_t reversed = 0;
  for (unsigned i = 0; i < bits; ++i) {
    ones += static_cast<int>(bit(v, i));
    if (first == 0 && bit(v, i) != 0) first = static_cast<int>(i) + 1;
    leading = bit(v, i) != 0 ? 0 : leading + 1;
    reversed |= static_cast<std::uint64_t>(bit(v, i)) << (bits - 1 - i);
  }
  ASSERT_EQ(popc, ones) << v;
  ASSERT_EQ(clz, leading) << v;
  ASSERT_EQ(ffs, first) << v;
  ASSERT_EQ(brev, reversed) << v;
}

TEST(Bits, CountsAndReversals) {
  for (const std::uint64_t v : samples()) {
    const auto w = static_cast<unsigned>(v);
    check_counts<32>(w, __popc(w), __clz(static_cast<int>(w)), __ffs(static_cast<int>(w)), __brev(w));
    const auto s = static_cast<long long>(v);
    check_counts<64>(v, __popcll(v), __clzll(s), __ffsll(s), __brevll(v));
  }
}

TEST(Bits, PermuteTakesTheSelectedBytes) {
  const unsigned x = 0x33221100u, y = 0x77665544u;  // byte i holds 0x11 * i
  for (unsigned selector = 0; selector < 0x8000u; ++selector) {
    if ((selector & 0x8888u) != 0) continue;
    unsigned expected = 0;
    for (unsigned i = 0; i < 4; ++i) expected |= (selector >> (4 * i) & 7u) * 0x11u << (8 * i);
    ASSERT_EQ(__byte_perm(x, y, selector), expected);
  }
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH((void)__byte_perm(x, y, 0x3218u), "not portable");
}

TEST(Bits, FunnelShiftsMoveBitsAcrossWords) {
  for (std::uint64_t i = 0; i < 300; ++i) {
    const auto lo = static_cast<unsigned>(detail::mix(i)), hi = static_cast<unsigned>(detail::mix(i) >> 32);
    for (unsigned shift = 0; shift < 70; ++shift) {
      const auto shifted = [&](unsigned by, bool left) {
        unsigned result = 0;  // bit by bit over the 64 bits of hi:lo
        for (unsigned b = 0; b < 32; ++b) {
          const int from = left ? 32 + static_cast<int>(b) - static_cast<int>(by) : static_cast<int>(b + by);
          const unsigned v =
              from < 32 ? bit(lo, static_cast<unsigned>(from)) : bit(hi, static_cast<unsigned>(from) - 32);
          result |= v << b;
        }
        return result;
      };
      ASSERT_EQ(__funnelshift_l(lo, hi, shift), shifted(shift % 32, true));
      ASSERT_EQ(__funnelshift_r(lo, hi, shift), shifted(shift % 32, false));
      ASSERT_EQ(__funnelshift_lc(lo, hi, shift), shifted(std::min(shift, 32u), true));
      ASSERT_EQ(__funnelshift_rc(lo, hi, shift), shifted(std::min(shift, 32u), false));
    }
  }
}

/// The high half of a product by schoolbook addition of shifted rows.
unsigned high_half(unsigned a, unsigned b) {
  std::uint64_t low = 0, high = 0;
  for (unsigned i = 0; i < 32; ++i) {
    if (bit(b, i) == 0) continue;
    const std::uint64_t row = std::uint64_t{a} << i;
    low += row & 0xFFFFFFFFu;
    high += row >> 32;
  }
  return static_cast<unsigned>(high + (low >> 32));
}

TEST(Bits, HighHalvesOfProducts) {
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const auto a = static_cast<unsigned>(detail::mix(i)), b = static_cast<unsigned>(detail::mix(~i));
    ASSERT_EQ(__umulhi(a, b), high_half(a, b));
    const unsigned correction = (static_cast<int>(a) < 0 ? b : 0u) + (static_cast<int>(b) < 0 ? a : 0u);
    ASSERT_EQ(static_cast<unsigned>(__mulhi(static_cast<int>(a), static_cast<int>(b))),
              high_half(a, b) - correction);
  }
}

TEST(Arithmetic, EveryOperationRoundsOnce) {
  // (1+2^-12)^2 = 1 + 2^-11 + 2^-24: the product rounds to 1 + 2^-11, the fused form keeps the last term.
  const float a = 1.0f + 0x1p-12f;
  EXPECT_EQ(__fmul_rn(a, a), 1.0f + 0x1p-11f);
  EXPECT_EQ(__fadd_rn(__fmul_rn(a, a), -(1.0f + 0x1p-11f)), 0.0f);
  EXPECT_EQ(__fmaf_rn(a, a, -(1.0f + 0x1p-11f)), 0x1p-24f);
  EXPECT_EQ(__fadd_rn(1.0f, 0x1p-24f), 1.0f);  // a tie goes to even
  EXPECT_EQ(__fsub_rn(1.0f, 0x1p-25f), 1.0f);
  EXPECT_EQ(__float_as_uint(__fdiv_rn(1.0f, 3.0f)), 0x3EAAAAABu);
  EXPECT_EQ(__frcp_rn(__uint_as_float(0x7F000000u)),
            __uint_as_float(0x00400000u));  // 2^-127 is subnormal, and kept
  EXPECT_EQ(__float_as_uint(__fsqrt_rn(2.0f)), 0x3FB504F3u);
  const double b = 1.0 + 0x1p-27;
  EXPECT_EQ(__fma_rn(b, b, -(1.0 + 0x1p-26)), 0x1p-54);
  EXPECT_EQ(__dadd_rn(__dmul_rn(b, b), -(1.0 + 0x1p-26)), 0.0);
  EXPECT_EQ(__dsub_rn(1.0, 0x1p-54), 1.0);
}

TEST(Arithmetic, BitCastsKeepBits) {
  for (const std::uint64_t v : samples()) {
    const auto w = static_cast<unsigned>(v);
    ASSERT_EQ(__float_as_uint(__uint_as_float(w)), w);
    ASSERT_EQ(__float_as_int(__int_as_float(static_cast<int>(w))), static_cast<int>(w));
    ASSERT_EQ(
        static_cast<std::uint64_t>(__double_as_longlong(__longlong_as_double(static_cast<long long>(v)))), v);
  }
  EXPECT_EQ(__float_as_uint(1.0f), 0x3F800000u);
}

template <class T>
void check_atomics() {
  T v = 40;
  EXPECT_EQ(atomicAdd(&v, T{2}), T{40});
  EXPECT_EQ(atomicSub(&v, T{1}), T{42});
  EXPECT_EQ(atomicMax(&v, T{30}), T{41});
  EXPECT_EQ(atomicMax(&v, T{50}), T{41});
  EXPECT_EQ(atomicMin(&v, T{60}), T{50});
  EXPECT_EQ(atomicMin(&v, T{12}), T{50});
  EXPECT_EQ(atomicOr(&v, T{3}), T{12});
  EXPECT_EQ(atomicAnd(&v, T{9}), T{15});
  EXPECT_EQ(atomicXor(&v, T{1}), T{9});
  EXPECT_EQ(atomicCAS(&v, T{7}, T{1}), T{8});
  EXPECT_EQ(atomicCAS(&v, T{8}, T{1}), T{8});
  EXPECT_EQ(atomicExch(&v, std::numeric_limits<T>::max()), T{1});
  EXPECT_EQ(v, std::numeric_limits<T>::max());
}

TEST(Atomics, ReturnTheOldValueAndStoreTheNew) {
  check_atomics<int>();
  check_atomics<unsigned>();
  check_atomics<unsigned long long>();
  int negative = -5;
  atomicMax(&negative, -7);
  EXPECT_EQ(negative, -5);
  atomicMin(&negative, 3);
  EXPECT_EQ(negative, -5);
}

TEST(Atomics, LoseNoUpdateBetweenWorkers) {
  constexpr unsigned blocks = 32, lanes = 64, rounds = 2000;
  Options options;
  options.workers = 4;
  std::atomic<unsigned> begun{0};
  unsigned count = 0, most = 0;
  float sum = 0;  // multiples of 1/4 under 2^22, exact in any order
  double wide = 0;
  run(
      {"count", {blocks}, {lanes}},
      [&] {
        // Begin when two workers have, where there are two.
        if (threadIdx.x == 0) ++begun;
        for (long patience = 100000; patience > 0 && begun < 2; --patience) std::this_thread::yield();
        for (unsigned i = 0; i < rounds; ++i) {
          atomicAdd(&count, 1u);
          atomicAdd(&sum, 0.25f);
          atomicAdd(&wide, 0.25);
          atomicMax(&most, (blockIdx.x * lanes + threadIdx.x) * rounds + i);
        }
      },
      options);
  constexpr unsigned all = blocks * lanes * rounds;
  EXPECT_EQ(count, all);
  EXPECT_EQ(sum, static_cast<float>(all) / 4);
  EXPECT_EQ(wide, static_cast<double>(all) / 4);
  EXPECT_EQ(most, all - 1);
}

}  // namespace
}  // namespace assay::executor
