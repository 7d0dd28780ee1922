// The command line of `assay golden`.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "properties/cli/commands.hpp"
#include "properties/cli/options.hpp"

namespace assay::cli {
namespace {

struct GoldenWords {
  std::vector<std::string> files;
  std::string device;
  std::optional<std::string> folder;
};

const char* const life_cycle =
    "regen computes every record from the oracle, and leaves goldens/<family>/NAME.pending.h5 where that "
    "differs from\n"
    "what is approved. review shows the difference. accept and reject are acts of a person: with CI set in "
    "the\n"
    "environment, regen without --out, record, accept and reject write nothing and exit 2. verify never "
    "writes.\n";

}  // namespace

void add_golden(CLI::App& app, std::function<int()>& action) {
  const auto words = std::make_shared<GoldenWords>();
  CLI::App* golden = app.add_subcommand("golden", "Golden records: approved bits with provenance");
  golden->require_subcommand(1);
  golden->footer(std::string(life_cycle) + exit_codes);
  const auto add = [&](const char* name, const char* summary, const std::string& note,
                       std::function<int()> run) {
    CLI::App* command = golden->add_subcommand(name, summary);
    command->footer(note + exit_codes);
    command->callback([&action, run = std::move(run)] { action = run; });
    return command;
  };
  const auto add_files = [&](CLI::App* command, const char* what) {
    command->add_option("files", words->files, what)->type_name("FILE...");
  };
  const auto add_folder = [&](CLI::App* command, const char* what) {
    command->add_option("--out", words->folder, what)->type_name("FOLDER");
  };
  const char* const by_default = "approved or pending files; default: all that is pending";

  add_files(add("verify", "Check records against the oracle and every route, and what lies beside them", "",
                [words] { return golden_verify(words->files); }),
            "records; default: every approved one, and that nothing is missing or unknown");
  add_folder(add("regen", "Recompute all records from the oracle; what differs becomes pending", "",
                 [words] { return golden_regen(words->folder); }),
             "write every record to FOLDER/<family>/<record>.h5 instead");
  add_files(add("review", "Show what pending records would change, and why",
                "Here 0 is nothing pending, and 1 is something.\n",
                [words] { return golden_review(words->files); }),
            by_default);
  add_files(add("accept", "Put pending records in the place of the approved ones",
                "A record that today's oracle does not compute is refused, and then none is accepted.\n",
                [words] { return golden_accept(words->files); }),
            by_default);
  add_files(add("reject", "Remove pending records", "", [words] { return golden_reject(words->files); }),
            by_default);
  CLI::App* record = add("record", "Record what every route leaves on a device, as pending records",
                         "The cases are those of goldens/<family>/hardware/cases.txt. Nothing is written "
                         "when any result is wrong.\n",
                         [words] { return golden_record(parse_device(words->device), words->folder); });
  record->add_option("--device", words->device, "cuda, or cpu with --out")->type_name("DEVICE")->required();
  add_folder(record, "write to FOLDER/<family>/hardware/<device>.h5 instead");
}

}  // namespace assay::cli
