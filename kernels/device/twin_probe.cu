// The table of probes, and those of arithmetic, conversions and bits: one struct an instruction.
#include <array>

#include "kernels/device/arithmetic.hpp"
#include "kernels/device/bf16x2.hpp"
#include "kernels/device/bits.hpp"
#include "kernels/device/cvt.hpp"
#include "kernels/device/cvt_fp8.hpp"
#include "kernels/device/f16x2.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/minmax.hpp"
#include "kernels/device/probe_kernels.hpp"
#include "kernels/device/probe_table.hpp"
#include "kernels/device/quotient_operands.hpp"
#include "kernels/device/sum_operands.hpp"
#include "kernels/device/twin_operands.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE {
namespace {

// ---- conversions: the domain is every input ----

constexpr std::uint64_t every_16 = std::uint64_t{1} << 16;
constexpr std::uint64_t every_32 = std::uint64_t{1} << 32;

/// The value goes to the high code and its negation to the low one, so exchanged halves show.
#define ASSAY_PROBE_FP8(Name, wrapper, twin_function)                                                    \
  struct Name {                                                                                          \
    using Output = std::uint16_t;                                                                        \
    static __device__ u32 instruction(u32 x) { return wrapper(as_float(x), as_float(x ^ 0x80000000u)); } \
    static __host__ __device__ u32 twin_of(u32 x) {                                                      \
      return twin::twin_function(as_float(x), as_float(x ^ 0x80000000u));                                \
    }                                                                                                    \
  };
ASSAY_PROBE_FP8(ToE4m3x2, cvt_rn_satfinite_e4m3x2_f32, cvt_e4m3x2_f32)
ASSAY_PROBE_FP8(ToE5m2x2, cvt_rn_satfinite_e5m2x2_f32, cvt_e5m2x2_f32)
#undef ASSAY_PROBE_FP8

struct ToF16 {
  using Output = std::uint16_t;
  static __device__ u32 instruction(u32 x) { return cvt_rn_f16_f32(as_float(x)); }
  static __host__ __device__ u32 twin_of(u32 x) { return twin::cvt_rn_f16_f32(as_float(x)); }
};
struct ToBf16 {
  using Output = std::uint16_t;
  static __device__ u32 instruction(u32 x) { return cvt_rn_bf16_f32(as_float(x)); }
  static __host__ __device__ u32 twin_of(u32 x) { return twin::cvt_rn_bf16_f32(as_float(x)); }
};
struct FromF16 {
  using Output = u32;
  static __device__ u32 instruction(u32 x) { return as_bits(cvt_f32_f16(x)); }
  static __host__ __device__ u32 twin_of(u32 x) { return as_bits(twin::cvt_f32_f16(x)); }
};
struct FromBf16 {
  using Output = u32;
  static __device__ u32 instruction(u32 x) { return as_bits(cvt_f32_bf16(x)); }
  static __host__ __device__ u32 twin_of(u32 x) { return as_bits(twin::cvt_f32_bf16(x)); }
};

/// The value goes to the high code, and the low one gets the value with its sign and lowest bit changed.
#define ASSAY_PROBE_TO_16X2(Name, function)                                                               \
  struct Name {                                                                                           \
    using Output = u32;                                                                                   \
    static __device__ u32 instruction(u32 x) { return function(as_float(x), as_float(x ^ 0x80000001u)); } \
    static __host__ __device__ u32 twin_of(u32 x) {                                                       \
      return twin::function(as_float(x), as_float(x ^ 0x80000001u));                                      \
    }                                                                                                     \
  };
ASSAY_PROBE_TO_16X2(ToF16x2, cvt_rn_f16x2_f32)
ASSAY_PROBE_TO_16X2(ToBf16x2, cvt_rn_bf16x2_f32)
#undef ASSAY_PROBE_TO_16X2

struct FromE4m3x2 {
  using Output = u32;
  static __device__ u32 instruction(u32 x) { return cvt_rn_f16x2_e4m3x2(x); }
  static __host__ __device__ u32 twin_of(u32 x) { return twin::cvt_f16x2_e4m3x2(x); }
};
struct FromE5m2x2 {
  using Output = u32;
  static __device__ u32 instruction(u32 x) { return cvt_rn_f16x2_e5m2x2(x); }
  static __host__ __device__ u32 twin_of(u32 x) { return twin::cvt_f16x2_e5m2x2(x); }
};

// ---- two operands: the domain is a table of pairs ----

#define ASSAY_PROBE_PAIR_F32(Name, function)                        \
  struct Name {                                                     \
    using Output = u32;                                             \
    static __device__ u32 instruction(u32 x) {                      \
      const operands::Pair p = operands::pair_f32(x);               \
      return as_bits(function(as_float(p.a), as_float(p.b)));       \
    }                                                               \
    static __host__ __device__ u32 twin_of(u32 x) {                 \
      const operands::Pair p = operands::pair_f32(x);               \
      return as_bits(twin::function(as_float(p.a), as_float(p.b))); \
    }                                                               \
  };
ASSAY_PROBE_PAIR_F32(MaxF32, max_f32)
ASSAY_PROBE_PAIR_F32(MaxNanF32, max_nan_f32)
ASSAY_PROBE_PAIR_F32(MinF32, min_f32)
ASSAY_PROBE_PAIR_F32(MinNanF32, min_nan_f32)
ASSAY_PROBE_PAIR_F32(MulRnF32, mul_rn_f32)
#undef ASSAY_PROBE_PAIR_F32

#define ASSAY_PROBE_PAIR_16X2(Name, function, mantissa_bits)          \
  struct Name {                                                       \
    using Output = u32;                                               \
    static __device__ u32 instruction(u32 x) {                        \
      const operands::Pair p = operands::pair_16x2<mantissa_bits>(x); \
      return function(p.a, p.b);                                      \
    }                                                                 \
    static __host__ __device__ u32 twin_of(u32 x) {                   \
      const operands::Pair p = operands::pair_16x2<mantissa_bits>(x); \
      return twin::function(p.a, p.b);                                \
    }                                                                 \
  };
ASSAY_PROBE_PAIR_16X2(MaxBf16x2, max_bf16x2, 7)
ASSAY_PROBE_PAIR_16X2(MaxNanBf16x2, max_nan_bf16x2, 7)
ASSAY_PROBE_PAIR_16X2(MaxF16x2, max_f16x2, 10)
ASSAY_PROBE_PAIR_16X2(MaxNanF16x2, max_nan_f16x2, 10)
ASSAY_PROBE_PAIR_16X2(MulRnBf16x2, mul_rn_bf16x2, 7)
ASSAY_PROBE_PAIR_16X2(MulRnF16x2, mul_rn_f16x2, 10)
#undef ASSAY_PROBE_PAIR_16X2

// ---- sums ----

struct AddRnF32 {
  using Output = u32;
  static __device__ u32 instruction(u32 x) {
    const operands::Pair p = operands::SumsF32::addends(x);
    return as_bits(add_rn_f32(as_float(p.a), as_float(p.b)));
  }
  static __host__ __device__ u32 twin_of(u32 x) {
    const operands::Pair p = operands::SumsF32::addends(x);
    return as_bits(twin::add_rn_f32(as_float(p.a), as_float(p.b)));
  }
};
struct FmaRnF32 {
  using Output = u32;
  static __device__ u32 instruction(u32 x) {
    const operands::Triple t = operands::SumsF32::triple(x);
    return as_bits(fma_rn_f32(as_float(t.a), as_float(t.b), as_float(t.c)));
  }
  static __host__ __device__ u32 twin_of(u32 x) {
    const operands::Triple t = operands::SumsF32::triple(x);
    return as_bits(twin::fma_rn_f32(as_float(t.a), as_float(t.b), as_float(t.c)));
  }
};
struct FmaRnF16x2 {
  using Output = u32;
  static __device__ u32 instruction(u32 x) {
    const operands::Triple t = operands::triple_f16x2(x);
    return fma_rn_f16x2(t.a, t.b, t.c);
  }
  static __host__ __device__ u32 twin_of(u32 x) {
    const operands::Triple t = operands::triple_f16x2(x);
    return twin::fma_rn_f16x2(t.a, t.b, t.c);
  }
};

#define ASSAY_PROBE_ADDENDS_F16X2(Name, function)          \
  struct Name {                                            \
    using Output = u32;                                    \
    static __device__ u32 instruction(u32 x) {             \
      const operands::Pair p = operands::addends_f16x2(x); \
      return function(p.a, p.b);                           \
    }                                                      \
    static __host__ __device__ u32 twin_of(u32 x) {        \
      const operands::Pair p = operands::addends_f16x2(x); \
      return twin::function(p.a, p.b);                     \
    }                                                      \
  };
ASSAY_PROBE_ADDENDS_F16X2(AddRnF16x2, add_rn_f16x2)
ASSAY_PROBE_ADDENDS_F16X2(SubRnF16x2, sub_rn_f16x2)
#undef ASSAY_PROBE_ADDENDS_F16X2

// ---- quotients and roots ----

struct DivRnF32 {
  using Output = u32;
  static __device__ u32 instruction(u32 x) {
    const operands::Pair p = operands::dividend_and_divisor(x);
    return as_bits(div_rn_f32(as_float(p.a), as_float(p.b)));
  }
  static __host__ __device__ u32 twin_of(u32 x) {
    const operands::Pair p = operands::dividend_and_divisor(x);
    return as_bits(twin::div_rn_f32(as_float(p.a), as_float(p.b)));
  }
};
struct SqrtRnF32 {
  using Output = u32;
  static __device__ u32 instruction(u32 x) { return as_bits(sqrt_rn_f32(as_float(x))); }
  static __host__ __device__ u32 twin_of(u32 x) { return as_bits(twin::sqrt_rn_f32(as_float(x))); }
};

// ---- elementary functions: one source, and what differs is the compiler and the machine ----

#define ASSAY_PROBE_FUNCTION(Name, function)                                                 \
  struct Name {                                                                              \
    using Output = u32;                                                                      \
    static __device__ u32 instruction(u32 x) { return as_bits(function(as_float(x))); }      \
    static __host__ __device__ u32 twin_of(u32 x) { return as_bits(function(as_float(x))); } \
  };
ASSAY_PROBE_FUNCTION(RsqrtF32, rsqrt_f32)
ASSAY_PROBE_FUNCTION(ExpF32, exp_f32)
ASSAY_PROBE_FUNCTION(SigmoidF32, sigmoid_f32)
ASSAY_PROBE_FUNCTION(SoftplusF32, softplus_f32)
ASSAY_PROBE_FUNCTION(LogF32, log_f32)
ASSAY_PROBE_FUNCTION(Log1pF32, log1p_f32)
#undef ASSAY_PROBE_FUNCTION

// ---- bits ----

/// Every selector on 256 pairs of words.
struct Prmt {
  using Output = u32;
  static __device__ u32 instruction(u32 x) {
    return prmt(operands::scrambled(x >> 16), operands::scrambled(~(x >> 16)), x & 0xFFFFu);
  }
  static __host__ __device__ u32 twin_of(u32 x) {
    return twin::prmt(operands::scrambled(x >> 16), operands::scrambled(~(x >> 16)), x & 0xFFFFu);
  }
};
/// The operands whose bits run through all eight combinations; nibbles of x vary which of them are
/// complemented.
template <std::uint8_t kTable>
struct Lop3 {
  using Output = u32;
  static __device__ u32 instruction(u32 x) {
    return lop3<kTable>(operands::scrambled(x), operands::scrambled(x + 0x10000u),
                        operands::scrambled(x + 0x20000u));
  }
  static __host__ __device__ u32 twin_of(u32 x) {
    return twin::lop3<kTable>(operands::scrambled(x), operands::scrambled(x + 0x10000u),
                              operands::scrambled(x + 0x20000u));
  }
};

}  // namespace

std::span<const WrapperProbe> probe_table() {
  static constexpr std::array of_values{
      probe<ToE4m3x2>("cvt_rn_satfinite_e4m3x2_f32", 32, every_32),
      probe<ToE5m2x2>("cvt_rn_satfinite_e5m2x2_f32", 32, every_32),
      probe<ToF16>("cvt_rn_f16_f32", 32, every_32),
      probe<ToBf16>("cvt_rn_bf16_f32", 32, every_32),
      probe<ToF16x2>("cvt_rn_f16x2_f32", 32, every_32),
      probe<ToBf16x2>("cvt_rn_bf16x2_f32", 32, every_32),
      probe<FromF16>("cvt_f32_f16", 16, every_16),
      probe<FromBf16>("cvt_f32_bf16", 16, every_16),
      probe<FromE4m3x2>("cvt_rn_f16x2_e4m3x2", 16, every_16),
      probe<FromE5m2x2>("cvt_rn_f16x2_e5m2x2", 16, every_16),
      probe<MaxF32>("max_f32", 0, operands::pairs_f32),
      probe<MaxNanF32>("max_nan_f32", 0, operands::pairs_f32),
      probe<MinF32>("min_f32", 0, operands::pairs_f32),
      probe<MinNanF32>("min_nan_f32", 0, operands::pairs_f32),
      probe<MulRnF32>("mul_rn_f32", 0, operands::pairs_f32),
      probe<MaxBf16x2>("max_bf16x2", 0, operands::pairs_16x2),
      probe<MaxNanBf16x2>("max_nan_bf16x2", 0, operands::pairs_16x2),
      probe<MaxF16x2>("max_f16x2", 0, operands::pairs_16x2),
      probe<MaxNanF16x2>("max_nan_f16x2", 0, operands::pairs_16x2),
      probe<MulRnBf16x2>("mul_rn_bf16x2", 0, operands::pairs_16x2),
      probe<MulRnF16x2>("mul_rn_f16x2", 0, operands::pairs_16x2),
      probe<AddRnF32>("add_rn_f32", 0, operands::sums),
      probe<FmaRnF32>("fma_rn_f32", 0, operands::sums),
      probe<FmaRnF16x2>("fma_rn_f16x2", 0, operands::sums),
      probe<AddRnF16x2>("add_rn_f16x2", 0, operands::sums),
      probe<SubRnF16x2>("sub_rn_f16x2", 0, operands::sums),
      probe<DivRnF32>("div_rn_f32", 0, operands::quotients),
      probe<SqrtRnF32>("sqrt_rn_f32", 32, every_32),
      probe<RsqrtF32>("rsqrt_f32", 32, every_32),
      probe<ExpF32>("exp_f32", 32, every_32),
      probe<SigmoidF32>("sigmoid_f32", 32, every_32),
      probe<SoftplusF32>("softplus_f32", 32, every_32),
      probe<LogF32>("log_f32", 32, every_32),
      probe<Log1pF32>("log1p_f32", 32, every_32),
      probe<Prmt>("prmt", 0, std::uint64_t{1} << 24),
      probe<Lop3<0xEA>>("lop3<0xEA>", 0, every_16),
      probe<Lop3<0x6A>>("lop3<0x6A>", 0, every_16),
      probe<Lop3<0x1D>>("lop3<0x1D>", 0, every_16),
  };
  static const std::vector<WrapperProbe> table = [] {
    std::vector<WrapperProbe> all(of_values.begin(), of_values.end());
    for (const auto& part : {transfer_probes(), matrix_probes()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return table;
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE
