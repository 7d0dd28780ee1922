#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "fixtures/files/messages.hpp"
#include "fixtures/tensor/errors.hpp"
#include "properties/cli/commands.hpp"
#include "properties/cli/options.hpp"
#include "properties/cli/output_file.hpp"
#include "properties/exchange/judging.hpp"

namespace assay::cli {

namespace {

struct JudgeWords {
  std::vector<std::string> files, tensors;
  std::string contracts, json;
  properties::JudgeOptions options;
  CLI::Option *contracts_option = nullptr, *json_option = nullptr, *case_option = nullptr, *family = nullptr;
};

int judge(const JudgeWords& words) {
  refuse_empty_text("--json", words.json_option, words.json, json_wanted);
  refuse_empty_text("--case", words.case_option, words.options.text, "a case, as a repro line prints it");
  refuse_empty_text("--family", words.family, words.options.family, "the name of a family (see: assay list)");
  refuse_empty_text("--contract", words.contracts_option, words.contracts, "key=value,... or 'any'");
  properties::JudgeOptions options = words.options;
  options.contracts_given = words.contracts_option->count() > 0;
  if (options.contracts_given && !options.text.empty())
    throw BadInput("--contract: --case names contracts already; give one of the two");
  if (words.contracts != "any") options.contracts = words.contracts;
  std::vector<properties::Mapping> mappings;
  for (const std::string& text : words.tensors) mappings.push_back(properties::parse_mapping(text));
  if (words.files.empty() && mappings.empty())
    throw BadInput("judge: it needs a file of tensors, or --tensor NAME=FILE:TENSOR");
  for (const std::string& file : words.files)
    if (file.empty()) throw BadInput("judge '': it needs the name of a file");
  if (!words.json.empty() && words.json != "-") check_writable(words.json);
  const properties::CaseFile offered =
      properties::collect({words.files.begin(), words.files.end()}, mappings);
  const properties::JudgeResult result = properties::judge_tensors(offered, options);
  show_result(
      words.json, [&] { return properties::json_report(result); }, properties::text_report(result));
  return result.exit_code();
}

}  // namespace

void add_judge(CLI::App& app, std::function<int()>& action) {
  const auto words = std::make_shared<JudgeWords>();
  CLI::App* command = app.add_subcommand(
      "judge", "Judge tensors that somebody else computed against the oracle; no kernel runs");
  command
      ->add_option("files", words->files,
                   "safetensors, .npy or HDF5 files whose tensors are named like the buffers of a case")
      ->type_name("FILE");
  command->add_option("--tensor", words->tensors, "a tensor of a file taken as the buffer NAME (repeatable)")
      ->type_name("NAME=FILE[:TENSOR]")
      ->allow_extra_args(false);
  words->family =
      command->add_option("--family", words->options.family, "the operator; default: the one that fits")
          ->type_name("NAME");
  words->contracts_option =
      command
          ->add_option("--contract", words->contracts,
                       "contracts that are known; those left open are asked of the tensors. 'any': all are. "
                       "A case that a file names is then not used")
          ->type_name("KEY=VALUE,...");
  words->case_option = command
                           ->add_option("--case", words->options.text,
                                        "the case whose outputs these are; inputs that are missing are those "
                                        "it generates")
                           ->type_name("TOKEN");
  words->json_option = command
                           ->add_option("--json", words->json,
                                        "also write the result as JSON to FILE ('-': to standard output "
                                        "instead)")
                           ->type_name("FILE");
  command->footer(
      std::string("Exits 0 when the outputs are right under the contracts named, or under some choice of "
                  "those left open;\n3 when they are so only within error bounds (judge=bound) that were not "
                  "asked for.\n") +
      exit_codes);
  command->callback([words, &action] { action = [words] { return judge(*words); }; });
}

}  // namespace assay::cli
