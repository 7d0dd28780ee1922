// assay capture: a report becomes a fixture that every gate replays.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "fixtures/files/messages.hpp"
#include "fixtures/tensor/errors.hpp"
#include "properties/cli/commands.hpp"
#include "properties/cli/output_file.hpp"
#include "properties/exchange/case_file.hpp"
#include "properties/gate/captured.hpp"
#include "properties/gate/golden.hpp"
#include "properties/gate/home.hpp"
#include "properties/gate/judge.hpp"
#include "properties/gate/report.hpp"
#include "properties/repro/source.hpp"

namespace assay::cli {
namespace {

using fixtures::printable;
using properties::Captured;
using properties::CaseText;
using Path = std::filesystem::path;

struct CaptureWords {
  std::string what;  ///< a case, or a file of one
  std::string id, fault_class, source, title, shows;
  std::vector<std::string> right;  ///< "OUTPUT[ELEMENT]=CODES"
  std::string out;                 ///< folder; empty: the family's own
};

void check_words(const CaptureWords& words) {
  if (!properties::is_fixture_id(words.id))
    throw BadInput(fmt::format(
        "--id {}: an id is 1 to 40 letters, digits, '-' and '_', and begins with a letter or digit",
        fixtures::in_quotes(words.id)));
  const auto refuse_blank = [](const char* option, const std::string& value, const char* wanted) {
    if (value.find_first_not_of(" \t\r\n") == value.npos)
      throw BadInput(fmt::format("{} {}: it needs {}", option, fixtures::in_quotes(value), wanted));
  };
  refuse_blank("--class", words.fault_class, "the kind of fault in a few words, as 'stale rows'");
  refuse_blank("--source", words.source, "owner/repository#number, or where the case came from");
  std::error_code ignored;
  if (const Path out = words.out;
      std::filesystem::exists(out, ignored) && !std::filesystem::is_directory(out, ignored))
    throw BadInput(fmt::format("--out {}: it is not a folder", fixtures::path_text(out)));
}

void check_id_is_free(const std::string& id, const Path& file) {
  const auto files = properties::fixture_files(properties::home() / "fixtures");
  const auto taken = files.find(id);
  if (taken != files.end())
    throw BadInput(fmt::format("--id {}: {} has it", id, printable(taken->second.string())));
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(file, ignored)))
    throw BadInput(fmt::format("--id {}: {} exists", id, printable(file.string())));
}

/// "OUTPUT[FIRST]=CODES", the form that a case has for its own buffers.
properties::RightCodes parse_right(const std::string& text) {
  const auto refuse = [&] {
    throw BadInput(fmt::format("--right {}: it is not OUTPUT[ELEMENT]=CODES", fixtures::in_quotes(text)));
  };
  CaseText parts;
  try {
    parts = properties::parse_case("right:;" + text);
  } catch (const BadInput&) {  // it speaks of a case
    refuse();
  }
  if (parts.overrides.size() != 1 || parts.zeros) refuse();
  const properties::Override& one = parts.overrides.front();
  return {one.buffer, one.first, one.codes};
}

/// What is captured: the case, and a text that gives all of it and needs no file somewhere.
struct Source {
  CaseText text;
  std::unique_ptr<properties::Workload> workload;
};

Source source_of(const std::string& what) {
  std::error_code ignored;
  Source source;
  CaseText place;
  bool of_file = false;
  if (std::filesystem::is_regular_file(what, ignored)) {
    const properties::CaseFile file = properties::read_case_file(what);
    source.workload = properties::build(file);
    place = file.text;
    source.text = properties::parse_case(source.workload->token());
  } else {
    properties::repro::refuse_no_file(what);
    source.text = place = properties::parse_case(what);
    source.workload = properties::build(source.text);
  }
  const std::string& token = source.text.token;
  of_file = token.find(",on=") != token.npos || token.find(":on=") != token.npos;
  if (of_file && !source.text.zeros)
    source.text = properties::text_of(properties::family_of(place), token,
                                      properties::contents_of(properties::given(*source.workload)));
  source.text.route = place.route;
  source.text.device = place.device;
  return source;
}

/// Longer texts are kept as case files: an editor still shows a line of this length.
constexpr std::size_t longest_text = 4000;

/// Files that are removed again unless all of them could be written.
class WholeOrNothing {
 public:
  ~WholeOrNothing() {
    std::error_code ignored;
    for (auto one = made_.rbegin(); one != made_.rend(); ++one) std::filesystem::remove(*one, ignored);
  }
  WholeOrNothing() = default;
  WholeOrNothing(const WholeOrNothing&) = delete;
  WholeOrNothing& operator=(const WholeOrNothing&) = delete;

  void folder(const Path& path) {
    if (std::filesystem::create_directory(path)) made_.push_back(path);
  }
  /// To be called before the file is there.
  void file(const Path& path) { made_.push_back(path); }
  void keep() { made_.clear(); }

 private:
  std::vector<Path> made_;
};

/// The case in a file of its own beside the fixture; its text is the shape and contracts.
Path write_beside(const Path& folder, const std::string& id, const Source& source, WholeOrNothing& written) {
  const Path file = folder / (id + "-1.safetensors");
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(file, ignored)))
    throw BadInput(fmt::format("--id {}: {} exists", id, printable(file.string())));
  CaseText text = source.text;
  text.zeros = true;
  text.overrides.clear();
  written.file(file);
  properties::write_case_file(file, properties::FileKind::safetensors, *source.workload, print(text),
                              nullptr);
  return file;
}

/// What the fixture says today, on everything here that it names.
void judge_now(const Captured& fixture, properties::Workload& workload) {
  const CaseText& text = fixture.cases.front().text;
  const properties::Family& family = properties::family_of(text);
  std::size_t judged = 0, failing = 0;
  for (const auto kind : {kernels::DeviceKind::cpu, kernels::DeviceKind::cuda}) {
    kernels::Device* device = kernels::device(kind);
    if (!device || (!text.device.empty() && text.device != to_string(kind))) continue;
    for (const std::size_t route : properties::routes_of(text)) {
      const properties::CaseResult result = properties::judge_case(family, workload, route, *device);
      if (result.verdict == properties::Verdict::unsupported) continue;
      ++judged;
      if (result.findings.empty()) continue;
      ++failing;
      const properties::Finding& first = result.findings.front();
      fmt::print("fails now: {} {}: {}\n", code_text(first.code), printable(first.place),
                 printable(first.patterns.empty() ? first.summary : text_of_patterns(first)));
    }
  }
  if (judged == 0) {
    fmt::print("no route here takes it\n");
  } else if (failing == 0) {
    fmt::print("passes now on every route here that takes it\n");
  }
}

int capture(const CaptureWords& words) {
  properties::refuse_in_ci("capture");
  check_words(words);
  Captured fixture;
  fixture.id = words.id;
  fixture.fault_class = words.fault_class;
  fixture.title = words.title.empty() ? words.fault_class : words.title;
  fixture.source = words.source;
  fixture.shows = words.shows.empty() ? "The case of the report." : words.shows;
  Source source = source_of(words.what);
  fixture.family = properties::family_of(source.text).name();
  fixture.cases.push_back({source.text, {}, {}});
  for (const std::string& right : words.right) fixture.cases[0].right.push_back(parse_right(right));

  const Path folder =
      words.out.empty() ? properties::home() / "fixtures" / fixture.family / "captured" : Path(words.out);
  const Path file = folder / (fixture.id + ".json");
  check_id_is_free(fixture.id, file);
  properties::check_right(properties::family_of(source.text), *source.workload, fixture.cases[0].right);

  WholeOrNothing written;
  if (words.out.empty()) written.folder(folder);
  if (const std::string text = print(source.text); text.size() > longest_text)
    fixture.cases[0].file = write_beside(folder, fixture.id, source, written);
  // Only what the reader of every gate takes is written.
  const std::string json = properties::json_text(fixture);
  fixture = properties::parse_captured(file, json, fixture.family);
  const auto workload = properties::build(fixture, 0);
  write_file(file.string(), json);
  written.keep();
  if (!fixture.cases[0].file.empty()) fmt::print("wrote {}\n", printable(fixture.cases[0].file.string()));
  fmt::print("wrote {}\n", printable(file.string()));
  if (words.out.empty()) {
    fmt::print("every gate of {} replays it first from now on\n", fixture.family);
  } else {
    fmt::print("gates replay it once it lies in {}\n",
               printable((properties::home() / "fixtures" / fixture.family / "captured").string()));
  }
  judge_now(fixture, *workload);
  return properties::exit_pass;
}

}  // namespace

void add_capture(CLI::App& app, std::function<int()>& action) {
  CLI::App* command =
      app.add_subcommand("capture", "Turn a reported case into a fixture that every gate replays first");
  const auto words = std::make_shared<CaptureWords>();
  command
      ->add_option(
          "case", words->what,
          "a case, as a diagnostic's repro line prints it, or a file of one (see: assay explain case)")
      ->type_name("CASE|FILE")
      ->required();
  command->add_option("--id", words->id, "name of the fixture and of its file")->type_name("ID")->required();
  command->add_option("--class", words->fault_class, "the kind of fault, as 'stale rows'")
      ->type_name("TEXT")
      ->required();
  command->add_option("--source", words->source, "owner/repository#number, or where the case came from")
      ->type_name("TEXT")
      ->required();
  command->add_option("--title", words->title, "what went wrong, in a line; default: the class")
      ->type_name("TEXT");
  command->add_option("--shows", words->shows, "what the input is for")->type_name("TEXT");
  command
      ->add_option("--right", words->right,
                   "codes that the report says are right; the oracle has to agree (repeatable)")
      ->type_name("OUTPUT[ELEMENT]=CODES")
      ->allow_extra_args(false);
  command->add_option("--out", words->out, "folder to write ID.json into; default: fixtures/FAMILY/captured")
      ->type_name("FOLDER");
  command->footer(
      "It writes nothing when an id is taken, a case cannot be built or a right code is not the "
      "oracle's, and nothing\nwhere the environment variable CI is set.");
  command->callback([words, &action] { action = [words] { return capture(*words); }; });
}

}  // namespace assay::cli
