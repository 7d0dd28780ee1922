// Case tokens, "FAMILY:key=value,key=value,...": reading them, with complaints that name the token.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace assay::properties {

/// "'TEXT'", printable and cut where it is long: anyone can write a case of any length.
std::string quoted_case(std::string_view text);
/// "case 'TEXT': REASON", the reason likewise.
std::string case_refusal(std::string_view text, std::string_view reason);

/// Every member throws BadInput naming the token and what is wrong with it.
class TokenReader {
 public:
  explicit TokenReader(std::string_view token) : token_(token) {}

  [[noreturn]] void refuse(const std::string& reason) const;
  /// The index of `value` in `names`.
  std::size_t choice(std::string_view key, std::string_view value,
                     std::span<const std::string_view> names) const;
  /// A whole number from `least` to `most`.
  std::uint64_t number(std::string_view key, std::string_view value, std::uint64_t least,
                       std::uint64_t most) const;
  /// A whole number from -most to most.
  int signed_number(std::string_view key, std::string_view value, int most) const;
  [[noreturn]] void refuse_key(std::string_view key, std::span<const std::string_view> known) const;

  /// Calls set(key, value) for each pair after "FAMILY:", in order. The value of `last_key` is the rest of
  /// the token, because a path may hold commas.
  void for_each_pair(std::string_view family, std::string_view last_key,
                     const std::function<void(std::string_view key, std::string_view value)>& set) const;

 private:
  std::string_view token_;
};

}  // namespace assay::properties
