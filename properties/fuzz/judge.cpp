// The arguments of `judge`, one a line, over a fixed set of tensors: right and wrong outputs of a small case
// of every family. How they are put together is judge_command.cpp's; the files are in a folder of their own,
// and a name of one elsewhere is of none.
#include <fmt/core.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "fixtures/files/safetensors_writer.hpp"
#include "properties/exchange/judging.hpp"
#include "properties/exchange/readings.hpp"
#include "properties/fuzz/cases.hpp"

namespace assay::fuzz {
namespace {

using namespace properties;

/// What is known of the outputs of one family.
struct Known {
  std::string text;                               ///< of the case that they are the right ones of
  std::string reading;                            ///< of the tensors, which says the same
  std::map<std::string, fixtures::Tensor> right;  ///< inputs and outputs
  std::set<std::string> outputs;                  ///< their names
};

/// FAMILY.safetensors has the inputs and the right outputs of a known case, FAMILY.case.safetensors says
/// which case it is; FAMILY.wrong.safetensors has another lowest bit in one code of one output.
class Files {
 public:
  Files() {
    for (const KnownCase& one : known_cases) write(one);
  }
  std::filesystem::path path_of(std::string_view name) const {
    const bool elsewhere = name.find('/') != name.npos;
    return folder_.path() / (elsewhere ? std::string("elsewhere") : std::string(name));
  }
  const Known& known(const std::string& family) const { return known_.at(family); }

 private:
  void write(const KnownCase& one) {
    const auto workload = build_case(one.text);
    const Contents outputs = right_outputs(*workload);
    const std::string family(one.family);
    const auto named = folder_.path() / (family + ".case.safetensors");
    put(named, case_file_bytes(FileKind::safetensors, *workload, std::string(one.text), &outputs));
    Known& known = known_[family];
    known.text = one.text;
    known.right = read_case_file(named).tensors;
    for (const OutputBuffer& output : workload->outputs()) known.outputs.insert(output.name);
    std::vector<fixtures::Tensor> tensors;
    std::vector<OfferedTensor> offered;
    for (const auto& [name, tensor] : known.right) {
      tensors.push_back(tensor);
      offered.push_back({name, tensor.dtype, tensor.shape});
    }
    put(folder_.path() / (family + ".safetensors"), fixtures::safetensors_bytes(tensors, {}));
    known.reading = families_reading(one, offered);
    std::vector<std::byte> damaged = outputs.at(0);
    damaged.at(0) ^= std::byte{1};
    for (fixtures::Tensor& tensor : tensors)
      if (tensor.name == workload->outputs().at(0).name) tensor.bytes = damaged;
    put(folder_.path() / (family + ".wrong.safetensors"), fixtures::safetensors_bytes(tensors, {}));
  }

  static std::string families_reading(const KnownCase& one, const std::vector<OfferedTensor>& offered) {
    const auto tokens = family_of(parse_case(one.text)).readings(offered, one.contracts);
    claim(tokens.size() == 1, fmt::format("{} readings of what is known of {}", tokens.size(), one.family));
    return tokens[0];
  }

  ScratchFolder folder_;
  std::map<std::string, Known> known_;
};

const Files& fixed_files() {
  static const Files files;
  return files;
}

struct Arguments {
  std::vector<std::filesystem::path> files;
  std::vector<Mapping> mappings;
  JudgeOptions options;
};

/// Throws BadInput as judge does. Nothing for a case that is not cheap.
std::optional<Arguments> arguments_of(std::string_view text) {
  Arguments all;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string_view option = line.substr(0, space);
    const std::string value(line.substr(std::min(space + 1, line.size())));
    if (option == "--family") {
      all.options.family = value;
    } else if (option == "--contract") {
      all.options.contracts_given = true;
      all.options.contracts = value == "any" ? "" : value;
    } else if (option == "--case") {
      all.options.text = value;
    } else if (option == "--tensor") {
      Mapping mapping = parse_mapping(value);
      mapping.place = fixed_files().path_of(mapping.place).string();
      all.mappings.push_back(std::move(mapping));
    } else {
      all.files.push_back(fixed_files().path_of(line));
    }
  }
  if (!all.options.text.empty() && !is_cheap(parse_case(all.options.text))) return std::nullopt;
  return all;
}

/// Every contract that was named is in the reading.
void check_contracts(std::string_view reading, std::string_view named) {
  while (!named.empty()) {
    const std::string_view pair = named.substr(0, named.find(','));
    named.remove_prefix(std::min(pair.size() + 1, named.size()));
    const std::size_t equals = pair.find('=');
    claim(value_of(reading, pair.substr(0, equals)) == pair.substr(equals + 1),
          fmt::format("a contract that was named is another in the reading {}", reading));
  }
}

/// The known reading of the inputs of a known case is consistent with its outputs, and with no others.
void check_verdict(const JudgedReading& reading, const CaseFile& offered, const Known& known) {
  if (reading.token != known.reading && reading.token != known.text) return;
  if (offered.tensors.size() != known.right.size()) return;  // what is missing is generated, or not judged
  bool inputs = true, outputs = true;
  for (const auto& [name, right] : known.right) {
    const auto there = offered.tensors.at(name).bytes;
    const bool same = std::equal(there.begin(), there.end(), right.bytes.begin(), right.bytes.end());
    (known.outputs.contains(name) ? outputs : inputs) &= same;
  }
  claim(!inputs || reading.consistent() == outputs,
        outputs ? "the right outputs are called wrong" : "wrong outputs are called right");
}

void run(Bytes bytes) {
  accepted([&] {
    const auto arguments = arguments_of(text_of(bytes));
    if (!arguments) return;
    const CaseFile offered = collect(arguments->files, arguments->mappings);
    const JudgeResult result = judge_tensors(offered, arguments->options);
    const int code = result.exit_code();
    claim(code == exit_pass || code == exit_fail || code == exit_vacuous, "an exit code that is not judge's");
    const JudgeOptions& options = arguments->options;
    for (const auto& readings : {result.readings, result.bounds}) {
      for (const JudgedReading& reading : readings) {
        claim(parse_case(reading.token).family == result.family, "a reading of another family");
        if (options.contracts_given)
          check_contracts(std::string_view(reading.token).substr(result.family.size() + 1),
                          options.contracts);
        check_verdict(reading, offered, fixed_files().known(result.family));
      }
    }
    const auto report = nlohmann::json::parse(json_report(result), nullptr, false);
    claim(report.is_object(), "the report is no JSON object");
    claim(text_report(result).ends_with('\n'), "the report does not end with a line");
  });
}

const Register registered({"judge", run});

}  // namespace
}  // namespace assay::fuzz
