#include "properties/bench/bench.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <memory>
#include <optional>

#include "fixtures/files/messages.hpp"
#include "fixtures/files/tensor_file.hpp"
#include "properties/bench/agree.hpp"
#include "properties/gate/buffers.hpp"
#include "properties/gate/progress.hpp"

namespace assay::properties::bench {
namespace {

using kernels::Contender;
using kernels::Samples;

std::vector<std::size_t> route_indices(const Family& family, const Benchmark& benchmark) {
  const std::vector<kernels::RouteInfo> infos = family.routes();
  std::vector<std::size_t> indices;
  for (const std::string& name : benchmark.routes) {
    const auto found =
        std::find_if(infos.begin(), infos.end(), [&](const auto& info) { return info.name == name; });
    assert(found != infos.end() && "a benchmark names routes of its family");
    indices.push_back(static_cast<std::size_t>(found - infos.begin()));
  }
  assert(!indices.empty());
  return indices;
}

/// A traffic that is larger than the buffers would make every rate a lie.
void check_traffic([[maybe_unused]] const Benchmark& benchmark, const Workload& workload) {
  std::size_t in = 0, out = 0;
  for (const InputBuffer& input : workload.inputs()) in += input.bytes.size();
  for (const OutputBuffer& output : workload.outputs()) {
    in += output.initial.size();  // updated in place: read and written
    out += bytes_of(output);
  }
  assert(benchmark.bytes_read + benchmark.bytes_written >= 2 && "there is something to copy");
  assert(benchmark.bytes_read <= in && benchmark.bytes_written <= out && "each byte is counted at most once");
  static_cast<void>(in);
  static_cast<void>(out);
}

/// Source and target of the copy that a benchmark is held against. The source holds what the inputs hold,
/// because the power that a copy draws, and so its clocks, depends on the data.
struct CopyBuffers {
  std::unique_ptr<kernels::DeviceBuffer> from, to;
};

CopyBuffers allocate_copy(std::size_t bytes, const Buffers& in, kernels::Device& device,
                          kernels::Timer& timer) {
  CopyBuffers copy{device.allocate("copy, source", bytes, 256), device.allocate("copy, target", bytes, 256)};
  std::size_t filled = 0;
  for (std::size_t i = 0; filled < bytes && !in.owned.empty(); i = (i + 1) % in.owned.size()) {
    const std::size_t part = std::min(bytes - filled, in.owned[i]->bytes());
    timer.copy(static_cast<std::byte*>(copy.from->data()) + filled, in.pointers[i], part);
    filled += part;
  }
  return copy;
}

class CaseRun {
 public:
  CaseRun(const Selected& selected, kernels::Device& device, kernels::Timer& timer, unsigned runs)
      : family_(*selected.family),
        benchmark_(selected.benchmark),
        device_(device),
        timer_(timer),
        runs_(runs),
        routes_(route_indices(family_, benchmark_)),
        workload_(family_.materialise(benchmark_.token)),
        in_(allocate_inputs(workload_->inputs(), device)),
        out_(allocate_outputs(*workload_, device)) {
    check_traffic(benchmark_, *workload_);
  }

  Agreement check() const { return check_agreement(family_, *workload_, routes_, device_, in_, out_); }

  /// In the order: routes, copy, nothing. A buffer that is updated in place goes on from launch to launch: to
  /// restore it between two would warm the caches.
  std::vector<Samples> time() {
    kernels::Witness witness;
    kernels::LaunchContext context{device_, witness};
    std::vector<Contender> contenders;
    for (std::size_t i = 0; i < routes_.size(); ++i) {
      contenders.push_back({benchmark_.routes[i], [this, &witness, &context, route = routes_[i]] {
                              witness.launches.clear();
                              workload_->launch(route, context, in_.pointers, out_.pointers);
                            }});
    }
    const std::size_t bytes =
        (benchmark_.bytes_read + benchmark_.bytes_written) / 2;  // read, and written again
    const CopyBuffers copy = allocate_copy(bytes, in_, device_, timer_);
    contenders.push_back({"copy", [&] { timer_.copy(copy.to->data(), copy.from->data(), bytes); }});
    contenders.push_back({"nothing", [] {}});
    std::vector<Samples> samples = timer_.time(contenders, runs_);
    device_.synchronize();
    return samples;
  }

  /// What the timed launches did beside their buffers.
  std::vector<kernels::GuardDamage> damage() const {
    std::vector<kernels::GuardDamage> damage;
    collect_damage(in_, damage);
    collect_damage(out_, damage);
    return damage;
  }

  CaseTime result(const std::vector<Samples>& samples, const std::vector<kernels::Witness>& witnesses) const {
    CaseTime result;
    result.family = family_.name();
    result.benchmark = benchmark_;
    const std::vector<kernels::RouteInfo> infos = family_.routes();
    for (std::size_t i = 0; i < routes_.size(); ++i) {
      RouteTime& route = result.routes.emplace_back();
      route.route = benchmark_.routes[i];
      route.kind = infos[routes_[i]].kind;
      route.time = spread_of(samples[i].microseconds);
      route.exposed = samples[i].exposed;
      for (const auto& launch : witnesses[i].launches) route.kernels.push_back(timer_.resources(launch));
    }
    const Samples& copy = samples[routes_.size()];
    result.copy.route = "copy";
    result.copy.time = spread_of(copy.microseconds);
    result.copy.exposed = copy.exposed;
    result.empty = spread_of(samples[routes_.size() + 1].microseconds);
    return result;
  }

 private:
  const Family& family_;
  const Benchmark& benchmark_;
  kernels::Device& device_;
  kernels::Timer& timer_;
  unsigned runs_;
  std::vector<std::size_t> routes_;
  std::unique_ptr<Workload> workload_;
  Buffers in_, out_;
};

void refuse(Result& result, const Selected& selected, std::vector<Finding> findings,
            kernels::Device& device) {
  for (Finding& finding : findings) {
    finding.place = fmt::format("{}, benchmark '{}' on {}", selected.family->name(), selected.benchmark.name,
                                to_string(device.kind()));
    finding.token = selected.benchmark.token;
    result.findings.push_back(std::move(finding));
  }
  ++result.refused;
}

/// False when nothing more can run on the device.
bool run_case(const Selected& selected, const std::vector<Peer>& peers, kernels::Device& device,
              kernels::Timer& timer, std::vector<double>& microseconds, Result& result) {
  CaseRun run(selected, device, timer, result.runs);
  const Agreement agreement = run.check();
  if (!agreement.findings.empty()) {
    refuse(result, selected, agreement.findings, device);
    return !agreement.stopped;
  }
  const std::vector<Samples> samples = run.time();
  std::vector<Finding> findings;
  for (const kernels::GuardDamage& damage : run.damage()) {
    Finding finding;
    finding.code = Code::guard_damaged;
    finding.summary = fmt::format("buffer '{}': {} bytes of its guard zone were written, first at offset {}",
                                  damage.buffer, damage.bytes, damage.first_offset);
    findings.push_back(finding);
  }
  if (!findings.empty()) {
    refuse(result, selected, findings, device);
    return true;
  }
  for (const Samples& one : samples)
    microseconds.insert(microseconds.end(), one.microseconds.begin(), one.microseconds.end());
  result.cases.push_back(run.result(samples, agreement.witnesses));
  for (const Peer& peer : peers) {
    if (peer.benchmark == selected.benchmark.name) result.cases.back().peers.push_back(peer);
  }
  if (selected.benchmark.routes.size() == 1) {
    result.notes.push_back(
        fmt::format("'{}' has one route: its numbers were compared with nothing", selected.benchmark.name));
  }
  return true;
}

}  // namespace

std::vector<std::string> names_of(const std::vector<const Family*>& families) {
  std::vector<std::string> names;
  for (const Family* family : families) {
    for (const Benchmark& benchmark : family->benchmarks()) {
      assert(std::count(names.begin(), names.end(), benchmark.name) == 0 && "a name tells one benchmark");
      names.push_back(benchmark.name);
    }
  }
  return names;
}

std::vector<Selected> select(const std::vector<const Family*>& families,
                             const std::vector<std::string>& named, const std::string& filter) {
  std::vector<std::string> known, names;
  for (const Family* family : families) known.emplace_back(family->name());
  for (const std::string& name : named) {
    if (std::count(known.begin(), known.end(), name) > 0) continue;
    throw BadInput(fmt::format("unknown family {}; the nearest is '{}' (see: assay list)",
                               fixtures::in_quotes(name), fixtures::nearest(name, known)));
  }
  std::vector<Selected> selected;
  for (const Family* family : families) {
    if (!named.empty() && std::count(named.begin(), named.end(), family->name()) == 0) continue;
    for (Benchmark& benchmark : family->benchmarks()) {
      names.push_back(benchmark.name);
      if (benchmark.name.find(filter) != std::string::npos)
        selected.push_back({family, std::move(benchmark)});
    }
  }
  if (!selected.empty() || filter.empty()) return selected;
  throw BadInput(fmt::format("no benchmark's name contains {}; {}", fixtures::in_quotes(filter),
                             names.empty() ? std::string("there are none")
                                           : fmt::format("the nearest is '{}' (see: assay bench --list)",
                                                         fixtures::nearest(filter, names))));
}

Result run(const std::vector<Selected>& selected, const std::vector<Peer>& peers, kernels::Device& device,
           kernels::Timer& timer, unsigned runs) {
  Result result;
  result.device = device.name();
  result.runs = runs;
  result.l2_bytes = timer.l2_bytes();
  result.cold_bytes = timer.cold_bytes();
  std::vector<double> microseconds;
  Progress progress("bench");
  progress.expect(selected.size());
  for (std::size_t i = 0; i < selected.size(); ++i) {
    progress.work(selected[i].benchmark.name, 0);
    if (!run_case(selected[i], peers, device, timer, microseconds, result)) {
      const std::size_t left = selected.size() - i - 1;
      if (left > 0)
        result.notes.push_back(fmt::format("a kernel was stopped: {} more benchmarks did not run", left));
      break;
    }
    progress.step();
  }
  result.step = smallest_step(std::move(microseconds));
  return result;
}

}  // namespace assay::properties::bench
