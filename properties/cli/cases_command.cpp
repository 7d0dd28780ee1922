#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "fixtures/files/messages.hpp"
#include "fixtures/tensor/errors.hpp"
#include "properties/cli/commands.hpp"
#include "properties/cli/options.hpp"
#include "properties/exchange/written_cases.hpp"
#include "properties/gate/describe.hpp"

namespace assay::cli {

namespace {

struct CasesWords {
  std::vector<std::string> families, texts;
  std::string level = "quick", seed = "1", folder, format = "safetensors", limit;
  CLI::Option *level_option = nullptr, *seed_option = nullptr, *limit_option = nullptr;
};

int cases(const CasesWords& words) {
  refuse_empty("--family", words.families, "the name of a family (see: assay list)");
  refuse_empty("--case", words.texts, "a case, as a repro line prints it");
  if (words.folder.empty()) throw BadInput("--out '': it needs a folder");
  if (!words.texts.empty() && !words.families.empty())
    throw BadInput("cases: --family, for built-in cases, and --case exclude each other");
  if (words.texts.empty() && words.families.empty())
    throw BadInput("cases: it needs --family, for built-in cases, or --case");
  if (!words.texts.empty() && words.level_option->count() > 0)
    throw BadInput("--level: it selects built-in cases; --case names its own");
  if (!words.texts.empty() && words.seed_option->count() > 0)
    throw BadInput("--seed: it is for built-in cases; --case names its own");
  properties::CasesRequest request;
  request.texts = words.texts;
  request.families = words.families;
  request.level = parse_level(words.level);
  request.seed = parse_seed(words.seed);
  request.kind = properties::file_kind_named(words.format);
  if (words.limit_option->count() > 0) request.limit = parse_limit(words.limit);
  const properties::WrittenCases written = properties::write_cases(words.folder, request);
  fmt::print("wrote {} case file{} and index.tsv, {} bytes, to {}\n", properties::grouped(written.files),
             written.files == 1 ? "" : "s", properties::grouped(written.bytes),
             fixtures::printable(words.folder));
  if (written.refused > 0)
    fmt::print("{} cases that every route refuses are left out\n", properties::grouped(written.refused));
  return properties::exit_pass;
}

}  // namespace

void add_cases(CLI::App& app, std::function<int()>& action) {
  const auto words = std::make_shared<CasesWords>();
  CLI::App* command = app.add_subcommand(
      "cases", "Write cases as files of tensors, for others to run; their outputs come back through judge");
  command->add_option("--out", words->folder, "a folder that does not exist yet, or is empty")
      ->required()
      ->type_name("FOLDER");
  command->add_option("--family", words->families, "the built-in cases of this family (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  words->level_option =
      command->add_option("--level", words->level, "quick (default), full or exhaustive")->type_name("LEVEL");
  words->seed_option =
      command->add_option("--seed", words->seed, "seed of generated inputs; default 1")->type_name("N");
  command->add_option("--case", words->texts, "this case, as a repro line prints it (repeatable)")
      ->type_name("TOKEN")
      ->allow_extra_args(false);
  command->add_option("--format", words->format, "safetensors (default) or hdf5")->type_name("FORMAT");
  words->limit_option =
      command->add_option("--limit", words->limit, "only the first N cases")->type_name("N");
  command->footer(
      std::string("A case file holds all inputs, the text of the case (metadata assay.case) and which "
                  "outputs judge expects\n(assay.outputs). index.tsv names file and text of each.\n") +
      exit_codes);
  command->callback([words, &action] { action = [words] { return cases(*words); }; });
}

}  // namespace assay::cli
