// Running error bounds (Wilkinson): every number carries a rigorous bound on its distance from the true
// value.
#pragma once

#include <limits>

#include "oracles/arithmetic/dyadic.hpp"
#include "oracles/arithmetic/modelled.hpp"

namespace assay::arithmetic {

/// a + b and a * b for a, b >= 0 (or +Inf), never below the exact result, and equal to it where a double
/// holds it.
double sum_upward(double a, double b);
double product_upward(double a, double b);

/// Half the spacing of F's binade that holds the exact result `x`: what one rounding to nearest may move it.
/// 0 when the result is a number of F, +Inf when there is no such bound (overflow, Inf, NaN).
double rounding_error(formats::Format, const formats::Exact& x, std::uint32_t rounded_code);

/// |x| of a finite or zero value of at most 53 bits, as a double.
double magnitude(const formats::Exact& x);

/// The number a schedule computes in format F, and a bound on |computed - true|, where true is what exact
/// arithmetic gives for the same inputs. Every operation adds what its operands' errors grow to and its own
/// rounding error:
///   a + b     ea + eb                       a * b   |a| eb + |b| ea + ea eb
///   fma       as a * b, + ec                convert   ea
/// The bounds are doubles rounded upward. An operation that happens to be exact adds nothing. After an
/// overflow or a NaN the bound is +Inf: no distance is then known, and the bits of the modelled schedule are
/// what to compare with.
///
/// What the bound does not prove: that another order of the same operations lies within it, or that one
/// outside it is worse. It speaks for the schedule that was run, on the inputs it was run on.
template <formats::Format F>
class Bounded {
 public:
  Bounded() = default;  ///< +0, exactly
  /// An input: exact by definition, or known up to `bound`.
  static Bounded of_code(std::uint32_t code, double bound = 0) { return {Modelled<F>::of_code(code), bound}; }

  Modelled<F> value() const { return value_; }
  std::uint32_t code() const { return value_.code(); }
  double bound() const { return bound_; }

  Bounded operator-() const { return {-value_, bound_}; }
  friend Bounded operator+(Bounded a, Bounded b) {
    return rounded(sum(a.value_.exact(), b.value_.exact()), sum_upward(a.bound_, b.bound_));
  }
  friend Bounded operator-(Bounded a, Bounded b) { return a + -b; }
  friend Bounded operator*(Bounded a, Bounded b) {
    return rounded(product(a.value_.exact(), b.value_.exact()), product_error(a, b));
  }
  friend Bounded fma(Bounded a, Bounded b, Bounded c) {
    return rounded(sum(product(a.value_.exact(), b.value_.exact()), c.value_.exact()),
                   sum_upward(product_error(a, b), c.bound_));
  }
  /// The exact result `x` of an operation whose operands' errors have grown to `inherited`, rounded to F.
  static Bounded rounded(const formats::Exact& x, double inherited) {
    const Modelled<F> value = Modelled<F>::rounded(x);
    return {value, sum_upward(inherited, rounding_error(F, x, value.code()))};
  }
  /// What the errors of a and b make of the error of a * b.
  friend double product_error(Bounded a, Bounded b) {
    if (a.bound_ == 0 && b.bound_ == 0) return 0;
    const formats::Exact x = a.value_.exact(), y = b.value_.exact();
    if (x.kind > formats::Kind::finite || y.kind > formats::Kind::finite)
      return std::numeric_limits<double>::infinity();
    const double first = product_upward(magnitude(x), b.bound_),
                 second = product_upward(magnitude(y), a.bound_);
    return sum_upward(sum_upward(first, second), product_upward(a.bound_, b.bound_));
  }

 private:
  Bounded(Modelled<F> value, double bound) : value_(value), bound_(bound) {}

  Modelled<F> value_;
  double bound_ = 0;
};

template <formats::Format To, formats::Format From>
Bounded<To> convert(Bounded<From> x) {
  return Bounded<To>::rounded(x.value().exact(), x.bound());
}

// The three ways to run one schedule. An algorithm that is a template over one of these is written once and
// gives the true value, the bits and the bound: it makes inputs with input<F>(code), computes with + - * fma,
// and rounds with convert<F>.
struct ExactArithmetic {
  template <formats::Format>
  using number = Dyadic;
  template <formats::Format F>
  static Dyadic input(std::uint32_t code) {
    return Dyadic::of(F, code);
  }
};
struct ModelledArithmetic {
  template <formats::Format F>
  using number = Modelled<F>;
  template <formats::Format F>
  static Modelled<F> input(std::uint32_t code) {
    return Modelled<F>::of_code(code);
  }
};
struct BoundedArithmetic {
  template <formats::Format F>
  using number = Bounded<F>;
  template <formats::Format F>
  static Bounded<F> input(std::uint32_t code) {
    return Bounded<F>::of_code(code);
  }
};

}  // namespace assay::arithmetic
