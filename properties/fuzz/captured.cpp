// Captured fixtures, as the gate replays them and `repro ID.json:N` reads them: the file, its cases and the
// codes that it calls right.
#include "properties/gate/captured.hpp"

#include <algorithm>

#include "oracles/formats/codec.hpp"
#include "properties/exchange/case_file.hpp"
#include "properties/fuzz/cases.hpp"

namespace assay::fuzz {
namespace {

using namespace properties;

constexpr std::string_view id = "F00";  // and so the seeds' id is F00
constexpr std::size_t most_built = 4;   ///< of a file's cases; more are of the same kinds

/// A folder FAMILY/captured for each family, in which case.safetensors is the case file of a known case and
/// nameless.safetensors one that names none.
const std::filesystem::path& fixtures_folder() {
  static const ScratchFolder folder;
  static const bool filled = [] {
    for (const KnownCase& one : known_cases) {
      const auto here = folder.path() / one.family / "captured";
      std::filesystem::create_directories(here);
      const auto bytes =
          case_file_bytes(FileKind::safetensors, *build_case(one.text), std::string(one.text), nullptr);
      put(here / "case.safetensors", bytes);
      put(here / "nameless.safetensors", std::as_bytes(std::span("\x02\0\0\0\0\0\0\0{}", 10)));
    }
    return true;
  }();
  static_cast<void>(filled);
  return folder.path();
}

/// The family that the text names first.
std::string_view family_in(std::string_view text) {
  const auto first = std::min_element(
      std::begin(known_cases), std::end(known_cases),
      [&](const KnownCase& a, const KnownCase& b) { return text.find(a.family) < text.find(b.family); });
  return first->family;
}

/// Codes that the reader took as right are inside the intervals of the acceptance, element by element.
void check_right(Workload& workload, const RightCodes& right) {
  const auto outputs = workload.outputs();
  std::size_t i = 0;
  while (i < outputs.size() && outputs[i].name != right.output) ++i;
  claim(i < outputs.size(), "right codes of no output were accepted");
  const auto& acceptance = workload.acceptance()[i];
  const auto format = outputs[i].format;
  const int width = formats::storage_bytes(format);
  const auto step = static_cast<std::size_t>(width);
  std::vector<std::byte> said = acceptance.lo;
  for (const auto& kept : acceptance.untouched)
    for (std::size_t at = kept.begin * step; at < kept.end * step && !outputs[i].initial.empty(); ++at)
      said[at] = outputs[i].initial[at];
  const std::vector<std::byte> before = said;
  write_codes(right.codes, step, right.first, said);
  for (std::size_t at = 0; at < acceptance.size(); ++at) {
    const auto code = arithmetic::load_code(said, width, at), old = arithmetic::load_code(before, width, at);
    if (code == old || (formats::is_nan(format, code) && formats::is_nan(format, old))) continue;
    claim(!acceptance.exact(), "right codes that are not the oracle's were accepted");
    const auto key = [&](std::uint32_t of) { return formats::ordered_key(format, of); };
    claim(key(old) <= key(code) && key(code) <= key(arithmetic::load_code(acceptance.hi, width, at)),
          "right codes outside the oracle's interval were accepted");
  }
}

void check_fixture(const Captured& fixture, std::string_view family) {
  claim(fixture.id == id && fixture.family == family, "a fixture of another id or family was accepted");
  claim(!fixture.cases.empty(), "a fixture without a case was accepted");
  const std::string written = json_text(fixture);
  claim(accepted([&] {
          claim(json_text(parse_captured(fixture.path, written, family)) == written,
                "a fixture that was written is read as another");
        }),
        "a fixture that was written is refused");
  for (std::size_t i = 0; i < std::min(fixture.cases.size(), most_built); ++i) {
    const CapturedCase& one = fixture.cases[i];
    claim(one.text.family == family, "a case of another family was accepted");
    if (!is_cheap(one.text)) continue;
    accepted([&] {
      const auto workload = build(fixture, i);
      for (const RightCodes& right : one.right) check_right(*workload, right);
    });
  }
}

void run(Bytes bytes) {
  const std::string_view text = text_of(bytes), family = family_in(text);
  const auto path = fixtures_folder() / family / "captured" / (std::string(id) + ".json");
  accepted([&] { check_fixture(parse_captured(path, text, family), family); });
}

const Register registered({"captured", run});

}  // namespace
}  // namespace assay::fuzz
