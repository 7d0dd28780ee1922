#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <new>
#include <string_view>
#include <system_error>

#include "fixtures/files/messages.hpp"
#include "fixtures/files/tensor_file.hpp"
#include "fixtures/tensor/errors.hpp"
#include "kernels/runtime/witness.hpp"
#include "properties/bench/bench.hpp"
#include "properties/cli/commands.hpp"
#include "properties/cli/options.hpp"

namespace assay::cli {
namespace {

using properties::Shard;

/// For "the nearest is".
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}
std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

unsigned parse_runs(const std::string& text) {
  namespace bench = properties::bench;
  unsigned runs = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), runs);
  if (error == std::errc{} && end == text.data() + text.size() && runs >= bench::fewest_runs &&
      runs <= bench::most_runs)
    return runs;
  throw BadInput(fmt::format("--runs {}: it is not a whole number from {} to {}", fixtures::in_quotes(text),
                             bench::fewest_runs, bench::most_runs));
}

/// "2/8": the second of eight.
Shard parse_shard(const std::string& text) {
  constexpr std::uint64_t most = 1000;
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto [slash, error] = std::from_chars(text.data(), end, shard.index);
  if (error == std::errc{} && slash != end && *slash == '/') {
    const auto [rest, second_error] = std::from_chars(slash + 1, end, shard.count);
    if (second_error == std::errc{} && rest == end && shard.count <= most && shard.index >= 1 &&
        shard.index <= shard.count) {
      --shard.index;
      return shard;
    }
  }
  throw BadInput(fmt::format("--shard {}: it is not I/N with whole numbers 1 <= I <= N <= {}",
                             fixtures::in_quotes(text), most));
}

struct GateWords {
  std::vector<std::string> devices, required;
  std::string level = "quick", seed = "1", shard;
  CLI::Option *json = nullptr, *html = nullptr, *until = nullptr;  ///< tell an empty text from none
  CLI::Option *level_given = nullptr, *seed_given = nullptr;
  GateArguments arguments;
};

/// The words of `gate` checked and turned into its arguments.
GateArguments gate_arguments(const GateWords& words) {
  GateArguments arguments = words.arguments;
  auto& options = arguments.options;
  refuse_empty("--family", options.families, "the name of a family or battery (see: assay list)");
  refuse_empty("--route", options.routes, "the name of a route (see: assay list)");
  refuse_empty("--on", options.on, "FILE or FILE:TENSOR");
  refuse_empty("--case", options.cases, "a case, as a repro line prints it");
  refuse_empty_text("--json", words.json, arguments.json, json_wanted);
  refuse_empty_text("--until", words.until, options.until, "part of a pattern");
  refuse_empty_text("--html", words.html, arguments.html, html_wanted);
  options.devices = parse_devices(words.devices);
  for (const auto& name : words.required) {
    if (name == "all")
      throw BadInput("--require-device all: only cpu or cuda can be required; repeat the option for both");
    options.required.push_back(parse_device(name));
  }
  options.level = parse_level(words.level);
  options.seed = parse_seed(words.seed);
  if (!words.shard.empty()) options.shard = parse_shard(words.shard);
  if (options.shard.count > 1 && !(options.on.empty() && options.cases.empty()))
    throw BadInput("--shard: it divides the built-in cases; --on and --case name their own");
  if (options.on.empty() && !options.cases.empty())
    for (const CLI::Option* given : {words.level_given, words.seed_given})
      if (given->count() > 0)
        throw BadInput(fmt::format("{}: it chooses built-in cases; --case names its own", given->get_name()));
  return arguments;
}

void add_gate(CLI::App& app, GateWords& words, std::function<int()>& action) {
  CLI::App* gate =
      app.add_subcommand("gate", "Judge kernels: run every selected route and compare it with its oracle");
  auto& options = words.arguments.options;
  gate->add_option("--device", words.devices,
                   "cpu, cuda or all (repeatable); default: every device that is present")
      ->type_name("DEVICE")
      ->allow_extra_args(false);
  gate->add_option("--require-device", words.required, "exit 4 when this device is absent (repeatable)")
      ->type_name("DEVICE")
      ->allow_extra_args(false);
  gate->add_option("--family", options.families, "only this family or battery (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  gate->add_option("--route", options.routes, "only this route, ROUTE or FAMILY/ROUTE (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  words.level_given = gate->add_option("--level", words.level, "quick (default), full or exhaustive");
  words.level_given->type_name("LEVEL");
  gate->add_option("--shard", words.shard,
                   "only part I of N of the built-in cases; the N parts make the whole")
      ->type_name("I/N");
  words.seed_given =
      gate->add_option("--seed", words.seed, "seed of generated inputs and random properties; default 1");
  words.seed_given->type_name("N");
  gate->add_option(
          "--on", options.on,
          "judge on the tensors of this safetensors, .npy or HDF5 file, or on one of them (repeatable)")
      ->type_name("FILE[:TENSOR]")
      ->allow_extra_args(false);
  gate->add_option("--case", options.cases,
                   "judge this case, as a diagnostic's repro line prints it (repeatable)")
      ->type_name("TOKEN")
      ->allow_extra_args(false);
  words.until = gate->add_option("--until", options.until,
                                 "stop at the first finding with this in its pattern; exit 1 as ever")
                    ->type_name("TEXT");
  words.json = gate->add_option("--json", words.arguments.json,
                                "also write the result as JSON to FILE ('-': to standard output instead)")
                   ->type_name("FILE");
  words.html = gate->add_option("--html", words.arguments.html,
                                "also write a report to FILE that a browser shows, with the mismatches")
                   ->type_name("FILE");
  gate->footer(std::string("Captured fixtures of a family are replayed before its built-in cases.\n") +
               exit_codes);
  gate->callback([&] { action = [&words] { return cli::gate(gate_arguments(words)); }; });
}

struct BenchWords {
  std::string runs = std::to_string(properties::bench::usual_runs);
  CLI::Option *json = nullptr, *peers = nullptr, *filter = nullptr;
  BenchArguments arguments;
};

BenchArguments bench_arguments(const BenchWords& words) {
  BenchArguments arguments = words.arguments;
  refuse_empty("--family", arguments.families, "the name of a family (see: assay list)");
  refuse_empty_text("--json", words.json, arguments.json, json_wanted);
  refuse_empty_text("--peers", words.peers, arguments.peers, "the name of a file");
  refuse_empty_text("--filter", words.filter, arguments.filter, "part of a name (see: assay bench --list)");
  arguments.runs = parse_runs(words.runs);
  return arguments;
}

void add_bench(CLI::App& app, BenchWords& words, std::function<int()>& action) {
  CLI::App* bench =
      app.add_subcommand("bench", "Time routes side by side on a GPU, against a copy of as many bytes");
  BenchArguments& arguments = words.arguments;
  bench->add_option("--family", arguments.families, "only this family (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  words.filter = bench->add_option("--filter", arguments.filter, "only benchmarks whose name contains this")
                     ->type_name("TEXT");
  bench
      ->add_option("--runs", words.runs,
                   fmt::format("how often each is timed, {} or more; default {}",
                               properties::bench::fewest_runs, properties::bench::usual_runs))
      ->type_name("N");
  words.peers =
      bench
          ->add_option("--peers", arguments.peers,
                       "show times of other implementations too: a JSON list of {name, time_us, peer}")
          ->type_name("FILE");
  words.json = bench
                   ->add_option("--json", arguments.json,
                                "also write the result as JSON to FILE ('-': to standard output instead)")
                   ->type_name("FILE");
  bench->add_flag("--list", arguments.list, "print the names of the benchmarks; needs no GPU");
  bench->footer(
      std::string("Routes of a benchmark must first leave equal bits; one that does not is refused. A route "
                  "that is slower is shown,\nand is no failure.\n") +
      exit_codes);
  bench->callback([&] { action = [&words] { return cli::bench(bench_arguments(words)); }; });
}

/// What the program prints on stderr is one line, whatever a file or an argument put into it.
int complain(const std::string& message, int code) {
  // Unlike fmt::print this does not throw when stderr cannot be written: the exit code still tells.
  std::fputs(fmt::format("assay: {}\n", fixtures::printable(message)).c_str(), stderr);
  return code;
}

/// "no command given; ..." for the program, or for the command that has commands of its own.
std::string missing_command(const CLI::App& app) {
  const CLI::App* above = &app;
  std::string path = app.get_name();
  while (!above->get_subcommands().empty()) {
    above = above->get_subcommands().front();
    path += " " + above->get_name();
  }
  std::string commands;
  for (const std::string& name : command_names(*above)) commands += (commands.empty() ? "" : ", ") + name;
  return fmt::format("no command given; '{} COMMAND' takes {}", path, commands);
}

/// "unknown command ..." or "unknown option ...", of the first word that is neither where it stands; empty
/// when there is none.
std::string unknown_word(const CLI::App& app, int argc, char** argv) {
  const CLI::App* at = &app;  // the command that the words so far name
  for (int i = 1; i < argc; ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
    if (word == "--") break;  // only values follow
    const bool takes_command = at->get_require_subcommand_min() > 0;
    const bool option = word.rfind("--", 0) == 0 || (takes_command && word.size() > 1 && word[0] == '-');
    if (!option && !takes_command) continue;  // a value
    const std::vector<std::string> names = option ? option_names(*at) : command_names(*at);
    if (std::find(names.begin(), names.end(), word) == names.end())
      return fmt::format("unknown {} {}; the nearest is '{}'", option ? "option" : "command",
                         fixtures::in_quotes(word), fixtures::nearest(word, names));
    if (!option) at = at->get_subcommand(word);
  }
  return "";
}

/// A usage error in one line, with the nearest known word where an argument was not understood.
int report_usage(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  std::string message = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) || dynamic_cast<const CLI::RequiredError*>(&error))
    if (const std::string unknown = unknown_word(app, argc, argv); !unknown.empty()) message = unknown;
  if (message == CLI::RequiredError::Subcommand(1).what()) message = missing_command(app);
  std::replace(message.begin(), message.end(), '\n', ' ');
  const std::vector<std::string> commands = command_names(app);
  const bool known = argc > 1 && std::find(commands.begin(), commands.end(), argv[1]) != commands.end();
  return complain(fmt::format("{} (see: assay{} --help)", message, known ? " " + std::string(argv[1]) : ""),
                  properties::exit_usage);
}

/// A verdict that did not reach its reader is none.
int flush_output(int code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  const int reason = errno != 0 ? errno : EIO;  // an earlier write failed, whose reason is gone
  return complain(
      fmt::format("standard output cannot be written: {}", std::generic_category().message(reason)),
      properties::exit_environment);
}

int run_unflushed(const std::function<int()>& action) {
  try {
    return action();
  } catch (const BadInput& error) {
    return complain(error.what(), properties::exit_usage);
  } catch (const properties::EnvironmentError& error) {
    return complain(error.what(), properties::exit_environment);
  } catch (const kernels::DeviceError& error) {
    return complain(fmt::format("device error: {}", error.what()), properties::exit_environment);
  } catch (const std::bad_alloc&) {
    return complain("out of memory", properties::exit_environment);
  } catch (const std::filesystem::filesystem_error& error) {
    const std::string path = error.path1().string();
    return complain(path.empty() ? error.what() : fmt::format("{}: {}", path, error.code().message()),
                    properties::exit_environment);
  } catch (const std::exception& error) {
    // fmt reports a failed write by throwing; flush_output has the words for it.
    if (std::ferror(stdout)) return properties::exit_environment;
    return complain(fmt::format("internal error: {}", error.what()), properties::exit_environment);
  }
}

/// What follows `explain`, unless help is asked for: "-inf" and "-.5" are numbers there, which the parser
/// takes for options.
std::optional<std::vector<std::string>> words_to_explain(int argc, char** argv) {
  if (argc < 2 || std::string_view(argv[1]) != "explain") return std::nullopt;
  std::vector<std::string> words(argv + 2, argv + argc);
  const auto mark = std::find(words.begin(), words.end(), "--");  // only words follow
  for (const char* help : {"-h", "--help"})
    if (std::find(words.begin(), mark, help) != mark) return std::nullopt;
  if (mark != words.end()) words.erase(mark);
  return words;
}

}  // namespace

int run_action(const std::function<int()>& action) { return flush_output(run_unflushed(action)); }

int run(int argc, char** argv) {
  CLI::App app{"Assay: numerical verification and golden tests for low-precision GPU kernels"};
  app.name("assay");
  app.require_subcommand(1);
  app.set_version_flag("--version",
                       fmt::format("assay {} (build {})", ASSAY_VERSION, kernels::binary_hash()));
  app.footer(exit_codes);

  std::function<int()> action;
  GateWords gate_words;
  std::vector<std::string> words;
  BenchWords bench_words;
  add_gate(app, gate_words, action);
  add_repro(app, action);
  add_bench(app, bench_words, action);
  app.add_subcommand("list", "Devices, families, routes, properties and batteries")->callback([&] {
    action = list;
  });
  CLI::App* explain_command = app.add_subcommand(
      "explain", "What a code of a format, a diagnostic, a damage pattern or a term means");
  explain_command
      ->add_option("words", words,
                   "e.g. 'e4m3 0x7E', 'bf16 1.5', 'A005', 'scale off by one'; none: what there is")
      ->type_name("WORD...");
  explain_command->callback([&] { action = [&words] { return explain(words); }; });
  add_golden(app, action);
  add_judge(app, action);
  add_cases(app, action);
  add_capture(app, action);

  const auto explained = words_to_explain(argc, argv);
  if (explained) words = *explained;
  try {
    app.parse(explained ? 2 : argc, argv);
  } catch (const CLI::CallForHelp&) {
    const CLI::App* shown = &app;
    std::string above;
    while (!shown->get_subcommands().empty()) {
      above += (above.empty() ? "" : " ") + shown->get_name();
      shown = shown->get_subcommands().front();
    }
    action = [help = shown->help(above)] {
      fmt::print("{}", help);
      return properties::exit_pass;
    };
  } catch (const CLI::CallForVersion& version) {
    action = [text = std::string(version.what())] {
      fmt::print("{}\n", text);
      return properties::exit_pass;
    };
  } catch (const CLI::ParseError& error) {
    return report_usage(app, error, argc, argv);
  }
  return run_action(action);
}

}  // namespace assay::cli
