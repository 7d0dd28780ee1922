// Modelled arithmetic: IEEE 754 fp32, fp16 and bf16 in software, every operation rounded once, to nearest
// even, from the exact result. What the bits of a declared rounding schedule must be, with no hardware float
// in the way.
#pragma once

#include <cstdint>

#include "oracles/arithmetic/exact_operations.hpp"
#include "oracles/formats/definition.hpp"

namespace assay::arithmetic {

/// A number of format F, held as its code. Subnormals are kept, overflow gives Inf, every NaN is the
/// canonical one.
template <formats::Format F>
class Modelled {
  static_assert(F == formats::Format::fp32 || F == formats::Format::fp16 || F == formats::Format::bf16,
                "arithmetic is modelled in the IEEE formats");

 public:
  Modelled() = default;  ///< +0
  /// Any code of F; a NaN becomes the canonical one.
  static Modelled of_code(std::uint32_t code) { return rounded(formats::definition::decode(spec, code)); }
  /// The exact value rounded once.
  static Modelled rounded(const formats::Exact& x) {
    Modelled result;
    result.code_ =
        formats::definition::encode(spec, x, formats::Rounding::nearest_even, formats::Overflow::propagate);
    return result;
  }

  std::uint32_t code() const { return code_; }
  formats::Exact exact() const { return formats::definition::decode(spec, code_); }

  Modelled operator-() const {
    formats::Exact x = exact();
    x.negative = !x.negative;
    return rounded(x);
  }
  friend Modelled operator+(Modelled a, Modelled b) { return rounded(sum(a.exact(), b.exact())); }
  friend Modelled operator-(Modelled a, Modelled b) { return a + -b; }
  friend Modelled operator*(Modelled a, Modelled b) { return rounded(product(a.exact(), b.exact())); }
  friend Modelled operator/(Modelled a, Modelled b) { return rounded(quotient(a.exact(), b.exact())); }
  friend Modelled sqrt(Modelled x) { return rounded(square_root(x.exact())); }
  /// a * b + c, rounded once.
  friend Modelled fma(Modelled a, Modelled b, Modelled c) {
    return rounded(sum(product(a.exact(), b.exact()), c.exact()));
  }

 private:
  static constexpr formats::Spec spec = formats::definition::spec_of(F);
  std::uint32_t code_ = 0;
};

/// x in another format, rounded once.
template <formats::Format To, formats::Format From>
Modelled<To> convert(Modelled<From> x) {
  return Modelled<To>::rounded(x.exact());
}

}  // namespace assay::arithmetic
