// assay repro: one case again, and all there is to see of it.
#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <memory>

#include "fixtures/tensor/errors.hpp"
#include "properties/cli/commands.hpp"
#include "properties/cli/options.hpp"
#include "properties/cli/output_file.hpp"
#include "properties/repro/repro.hpp"

namespace assay::cli {
namespace {

namespace repro = properties::repro;

struct Words {
  std::vector<std::string> devices;
  std::string json, html;
  CLI::Option *json_given = nullptr, *html_given = nullptr;  ///< tell an empty text from none
  repro::ReproOptions options;
};

int run(const Words& words) {
  repro::ReproOptions options = words.options;
  if (options.what.empty()) throw BadInput("repro '': it needs a case, as a repro line prints it");
  refuse_empty("--route", options.routes, "the name of a route (see: assay list)");
  refuse_empty_text("--json", words.json_given, words.json, json_wanted);
  refuse_empty_text("--html", words.html_given, words.html, html_wanted);
  options.devices = parse_devices(words.devices);
  if (!words.json.empty() && words.json != "-") check_writable(words.json);
  if (!words.html.empty()) check_writable(words.html);
  const auto start = std::chrono::steady_clock::now();
  const repro::ReproResult result = repro::reproduce(options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  show_result(
      words.json, [&] { return repro::json_report(result); },
      repro::text_report(result, seconds, isatty(STDOUT_FILENO) == 1));
  if (!words.html.empty())
    write_file(words.html,
               repro::html_report("assay repro " + result.text, result.gate, reported_cases(result)));
  return result.gate.exit_code();
}

}  // namespace

void add_repro(CLI::App& app, std::function<int()>& action) {
  CLI::App* command = app.add_subcommand(
      "repro",
      "Run one case and show what is wrong: where, by how much, and the smallest case that fails so");
  const auto words = std::make_shared<Words>();
  command->add_option("case", words->options.what, "the text of a case, as a repro line prints it")
      ->type_name("CASE")
      ->required();
  command->add_option("--route", words->options.routes, "only this route, ROUTE or FAMILY/ROUTE (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_option("--device", words->devices, "cpu, cuda or all; default: that of the case, else all")
      ->type_name("DEVICE")
      ->allow_extra_args(false);
  command->add_flag("--shrink", words->options.shrink,
                    "look for the smallest case that fails in the same way: shape, elements, values");
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
