#include <chrono>

#include "properties/cli/commands.hpp"
#include "properties/cli/output_file.hpp"
#include "properties/gate/report.hpp"

namespace assay::cli {

int gate(const GateArguments& arguments) {
  if (!arguments.json.empty() && arguments.json != "-") check_writable(arguments.json);
  const auto start = std::chrono::steady_clock::now();
  const properties::GateResult result = properties::run_gate(arguments.options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  show_result(
      arguments.json, [&] { return properties::json_report(result, arguments.options); },
      properties::text_report(result, seconds));
  return result.exit_code();
}

}  // namespace assay::cli
