#include <fmt/core.h>

#include "fixtures/tensor/errors.hpp"
#include "properties/bench/bench.hpp"
#include "properties/bench/peers.hpp"
#include "properties/bench/report.hpp"
#include "properties/cli/commands.hpp"
#include "properties/cli/output_file.hpp"

namespace assay::cli {

int bench(const BenchArguments& arguments) {
  using namespace properties::bench;
  const auto& families = properties::families();
  const std::vector<Selected> selected = select(families, arguments.families, arguments.filter);
  if (arguments.list) {
    if (!arguments.json.empty() || !arguments.peers.empty())
      throw BadInput("--list: nothing is measured, so that there is no use for --json and --peers");
    for (const Selected& one : selected) fmt::print("{}\n", one.benchmark.name);
    return properties::exit_pass;
  }
  std::vector<Peer> peers;
  if (!arguments.peers.empty()) peers = read_peers(arguments.peers, names_of(families));
  if (!arguments.json.empty() && arguments.json != "-") check_writable(arguments.json);

  constexpr auto cuda = kernels::DeviceKind::cuda;
  kernels::Device* const device = kernels::device(cuda);
  if (device == nullptr) {
    throw properties::EnvironmentError(
        fmt::format("bench measures on the cuda device, which is absent: {}", kernels::why_absent(cuda)));
  }
  const auto timer = kernels::make_timer(cuda);
  const Result result = run(selected, peers, *device, *timer, arguments.runs);
  show_result(
      arguments.json, [&] { return json_report(result); }, text_report(result));
  return result.exit_code();
}

}  // namespace assay::cli
