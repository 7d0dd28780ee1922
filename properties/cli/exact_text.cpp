#include "properties/cli/exact_text.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <cctype>
#include <charconv>
#include <string>

namespace assay::cli {
namespace {

using boost::multiprecision::cpp_int;
using formats::Exact;

/// numerator / denominator as 64 significant bits and a sticky bit.
Exact from_ratio(bool negative, cpp_int numerator, cpp_int denominator) {
  if (numerator == 0) return Exact::zero(negative);
  const int shift = 64 + static_cast<int>(msb(denominator)) - static_cast<int>(msb(numerator));
  if (shift > 0) {
    numerator <<= shift;
  } else {
    denominator <<= -shift;
  }
  cpp_int quotient, remainder;
  divide_qr(numerator, denominator, quotient, remainder);  // 64 or 65 bits
  bool sticky = remainder != 0;
  int exponent = -shift;
  while (msb(quotient) >= 64) {
    sticky = sticky || (quotient & 1) != 0;
    quotient >>= 1;
    ++exponent;
  }
  return Exact::finite(negative, static_cast<std::uint64_t>(quotient), exponent, sticky);
}

struct Digits {
  cpp_int significand = 0;
  int point = 0;  ///< digits after the point
  bool any = false;
};

Digits take_digits(std::string_view& text, int base) {
  Digits digits;
  bool after_point = false;
  while (!text.empty()) {
    const char c = text.front();
    if (c == '.' && !after_point) {
      after_point = true;
    } else if (base == 16 ? std::isxdigit(static_cast<unsigned char>(c))
                          : std::isdigit(static_cast<unsigned char>(c))) {
      const int value = std::isdigit(static_cast<unsigned char>(c)) ? c - '0' : (c | 0x20) - 'a' + 10;
      digits.significand = digits.significand * base + value;
      digits.point += after_point ? 1 : 0;
      digits.any = true;
    } else {
      break;
    }
    text.remove_prefix(1);
  }
  return digits;
}

/// The exponent after `mark`; 0 when there is none, nothing when it is malformed or absurd.
std::optional<int> take_exponent(std::string_view text, char mark) {
  if (text.empty()) return 0;
  if ((text.front() | 0x20) != mark) return std::nullopt;
  text.remove_prefix(1);
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;  // from_chars would take it
  }
  int exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (error != std::errc{} || end != text.data() + text.size() || exponent < -5000 || exponent > 5000)
    return std::nullopt;
  return exponent;
}

}  // namespace

std::optional<Exact> parse_exact(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (lower == "inf" || lower == "infinity") return Exact::infinity(negative);
  if (lower == "nan") return Exact::nan(negative);
  if (text.size() > 4000) return std::nullopt;

  const bool hex = lower.rfind("0x", 0) == 0;
  std::string_view rest = std::string_view(lower).substr(hex ? 2 : 0);
  const Digits digits = take_digits(rest, hex ? 16 : 10);
  const std::optional<int> exponent = take_exponent(rest, hex ? 'p' : 'e');
  if (!digits.any || !exponent) return std::nullopt;
  const cpp_int base = hex ? 2 : 10;
  const int power = *exponent - digits.point * (hex ? 4 : 1);
  const cpp_int factor = pow(base, static_cast<unsigned>(power < 0 ? -power : power));
  return power < 0 ? from_ratio(negative, digits.significand, factor)
                   : from_ratio(negative, digits.significand * factor, 1);
}

}  // namespace assay::cli
