// The whole text of a case, as `repro` and `--case` take it: its form, and what it makes of the buffers.
#include "properties/gate/case_text.hpp"

#include <fmt/core.h>

#include "properties/fuzz/cases.hpp"

namespace assay::fuzz {
namespace {

using namespace properties;

/// "BUFFER[INDEX]=CODES", a second time.
bool is_override(std::string_view part) {
  const std::size_t end = part.find("]=");
  if (end == part.npos) return false;
  const std::string_view front = part.substr(0, end), codes = part.substr(end + 2);
  const std::size_t open = front.find('[');
  if (open == 0 || open == front.npos || open + 1 == end) return false;
  std::size_t index = 0;
  for (const char c : front.substr(open + 1)) {
    const auto digit = static_cast<std::size_t>(c - '0');
    if (c < '0' || c > '9' || index > (~std::size_t{0} - digit) / 10) return false;
    index = 10 * index + digit;
  }
  return std::all_of(codes.begin(), codes.end(), [](unsigned char c) {
    return c < 0x80 && (std::isxdigit(c) != 0 || c == '*' || c == ' ');
  });
}

/// Where the token ends: at the first ';' behind which all is overrides, `zeros` before them or not.
std::size_t token_end(std::string_view whole) {
  for (std::size_t at = whole.find(';', whole.find(':')); at != whole.npos; at = whole.find(';', at + 1)) {
    bool all = true, first = true;
    for (std::size_t start = at + 1; all && start <= whole.size(); first = false) {
      const std::size_t end = std::min(whole.find(';', start), whole.size());
      const std::string_view part = whole.substr(start, end - start);
      all = is_override(part) || (first && part == "zeros");
      start = end + 1;
    }
    if (all) return at;
  }
  return whole.size();
}

bool same(const CaseText& one, const CaseText& other) {
  const auto equal = [](const Override& a, const Override& b) {
    return a.buffer == b.buffer && a.first == b.first && a.codes == b.codes;
  };
  return one.family == other.family && one.route == other.route && one.device == other.device &&
         one.token == other.token && one.zeros == other.zeros &&
         std::equal(one.overrides.begin(), one.overrides.end(), other.overrides.begin(),
                    other.overrides.end(), equal);
}

void check_form(std::string_view whole, const CaseText& parts) {
  const std::size_t colon = whole.find(':'), end = token_end(whole);
  claim(parts.token == parts.family + std::string(whole.substr(colon, end - colon)),
        "the token does not end at the first ';' behind which all is of the form");
  const std::string_view contents = whole.substr(end);
  claim((contents.substr(0, contents.find(';', 1)) == ";zeros") == parts.zeros,
        "zeros are not those of the text");
  const std::string printed = print(parts);
  claim(accepted([&] {
          const CaseText again = parse_case(printed);
          claim(same(again, parts) && print(again) == printed, "a printed case is another");
        }),
        "a printed case is refused");
}

/// What the text says of its buffers is in them, and the texts that the case gives of itself give it again.
void check_contents(const CaseText& parts, const Workload& built) {
  const Family& family = family_of(parts);
  const auto base = parts.zeros ? family.blank(parts.token) : family.materialise(parts.token);
  const auto buffers = given(*base);
  Contents expected = contents_of(buffers);
  for (const Override& one : parts.overrides)
    for (std::size_t i = 0; i < buffers.size(); ++i)
      if (buffers[i].name == one.buffer)
        write_codes(one.codes, static_cast<std::size_t>(formats::storage_bytes(buffers[i].format)), one.first,
                    expected[i]);
  claim(contents_of(given(built)) == expected, "the buffers do not hold what the text says");
  const std::string own = built.token(), whole = print(properties::text_of(family, parts.token, expected));
  claim(accepted([&] {
          const auto again = build_case(own);
          claim(again->token() == own, "the case of a token has another");
          claim_same_contents(*again, built, "the case of the own token");
          claim_same_contents(*build_case(whole), built, "the case of the contents' text");
        }),
        "the text of a case is refused");
}

void run(Bytes bytes) {
  const std::string_view whole = text_of(bytes);
  accepted([&] {
    const CaseText parts = parse_case(whole);
    check_form(whole, parts);
    accepted([&] { (void)routes_of(parts); });
    if (is_cheap(parts)) check_contents(parts, *build(parts));
  });
}

const Register registered({"case_text", run});

}  // namespace
}  // namespace assay::fuzz
