#include <fmt/core.h>

#include <chrono>
#include <exception>

#include "properties/cli/commands.hpp"
#include "properties/cli/output_file.hpp"
#include "properties/gate/report.hpp"

namespace assay::cli {

int gate(const GateArguments& arguments) {
  const bool to_file = !arguments.json.empty() && arguments.json != "-";
  if (to_file) check_writable(arguments.json);
  const auto start = std::chrono::steady_clock::now();
  const properties::GateResult result = properties::run_gate(arguments.options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (arguments.json == "-") {
    fmt::print("{}", properties::json_report(result, arguments.options));
    return result.exit_code();
  }
  std::exception_ptr unwritten;  // the text is shown all the same: the work is done
  try {
    if (to_file) write_file(arguments.json, properties::json_report(result, arguments.options));
  } catch (...) {
    unwritten = std::current_exception();
  }
  fmt::print("{}", properties::text_report(result, seconds));
  if (unwritten) std::rethrow_exception(unwritten);
  return result.exit_code();
}

}  // namespace assay::cli
