// assay repro: one case again, and all there is to see of it.
#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>

#include "fixtures/files/messages.hpp"
#include "fixtures/tensor/errors.hpp"
#include "properties/cli/commands.hpp"
#include "properties/cli/options.hpp"
#include "properties/cli/output_file.hpp"
#include "properties/exchange/case_file.hpp"
#include "properties/repro/repro.hpp"

namespace assay::cli {
namespace {

namespace repro = properties::repro;

struct Words {
  std::vector<std::string> devices;
  std::string json, html, out;
  CLI::Option *json_given = nullptr, *html_given = nullptr,
              *out_given = nullptr;  ///< tell an empty text from none
  repro::ReproOptions options;
};

/// The smallest case as a case file: of the first run that failed. Nothing where none did. Returns what was
/// done, in a line.
std::string write_smallest(const repro::ReproResult& result, const std::string& out) {
  for (const repro::Run& run : result.runs) {
    if (!run.shrunk) continue;
    const properties::Family& family = properties::family_of(run.shrunk->text);
    const auto workload = family.with_contents(run.shrunk->token, run.shrunk->contents);
    properties::CaseText text = run.shrunk->text;
    text.overrides.clear();  // the tensors say what they said
    const auto extension = std::filesystem::path(out).extension();
    const bool hdf5 = extension == ".h5" || extension == ".hdf5";
    properties::write_case_file(out, hdf5 ? properties::FileKind::hdf5 : properties::FileKind::safetensors,
                                *workload, print(text), nullptr);
    return fmt::format("wrote {}, the smallest case of {} on {}\n", fixtures::printable(out), run.route,
                       run.device);
  }
  return fmt::format("nothing failed, so {} was not written\n", fixtures::printable(out));
}

int run(const Words& words) {
  repro::ReproOptions options = words.options;
  if (options.what.empty())
    throw BadInput("repro '': it needs a case, as a repro line prints it, or a file of one");
  refuse_empty("--route", options.routes, "the name of a route (see: assay list)");
  refuse_empty_text("--json", words.json_given, words.json, json_wanted);
  refuse_empty_text("--html", words.html_given, words.html, html_wanted);
  refuse_empty_text("--out", words.out_given, words.out, "the name of a file");
  if (!words.out.empty() && !options.shrink)
    throw BadInput("--out: it is for the smallest case, which --shrink finds");
  options.devices = parse_devices(words.devices);
  if (!words.json.empty() && words.json != "-") check_writable(words.json);
  if (!words.html.empty()) check_writable(words.html);
  if (!words.out.empty()) check_writable(words.out);
  check_apart({{"the file of the case", options.what},
               {"--json", words.json},
               {"--html", words.html},
               {"--out", words.out}});
  const auto start = std::chrono::steady_clock::now();
  const repro::ReproResult result = repro::reproduce(options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  show_result(
      words.json, [&] { return repro::json_report(result); },
      repro::text_report(result, seconds, isatty(STDOUT_FILENO) == 1));
  if (!words.html.empty())
    write_file(words.html,
               repro::html_report("assay repro " + result.text, result.gate, reported_cases(result)));
  if (!words.out.empty()) {
    const std::string done = write_smallest(result, words.out);
    if (words.json != "-") fmt::print("{}", done);
  }
  return result.gate.exit_code();
}

}  // namespace

void add_repro(CLI::App& app, std::function<int()>& action) {
  CLI::App* command = app.add_subcommand(
      "repro",
      "Run one case and show what is wrong: where, by how much, and the smallest case that fails so");
  const auto words = std::make_shared<Words>();
  command
      ->add_option("case", words->options.what,
                   "a case, as a repro line prints it; a file of one, as assay cases writes and others fill; "
                   "or a captured fixture, ID.json or ID.json:N")
      ->type_name("CASE|FILE")
      ->required();
  command->add_option("--route", words->options.routes, "only this route, ROUTE or FAMILY/ROUTE (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_option("--device", words->devices, "cpu, cuda or all; default: that of the case, else all")
      ->type_name("DEVICE")
      ->allow_extra_args(false);
  command->add_flag("--shrink", words->options.shrink,
                    "look for the smallest case that fails in the same way: shape, elements, values");
  words->out_given =
      command
          ->add_option("--out", words->out,
                       "with --shrink: also write the smallest case to FILE, a safetensors file or, by its "
                       "name, HDF5 (.h5)")
          ->type_name("FILE");
  words->html_given =
      command->add_option("--html", words->html, "also write a report to FILE that a browser shows")
          ->type_name("FILE");
  words->json_given =
      command
          ->add_option("--json", words->json,
                       "also write the result as JSON to FILE ('-': to standard output instead)")
          ->type_name("FILE");
  command->footer(exit_codes);
  command->callback([words, &action] { action = [words] { return run(*words); }; });
}

}  // namespace assay::cli
