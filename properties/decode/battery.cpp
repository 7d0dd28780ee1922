// The battery `decode`: what a model sees of the MatMulNBits kernels.
//
//   simulation   the nodes of a decode of 64 tokens, with the lever that restores staging and without it: the
//                casts that it brings back are the direct stores that were accepted, and no bit differs
//   greedy       a small decoder: the same tokens with the lever and without it, and on cpu and cuda
#include "properties/gate/battery.hpp"

#include <fmt/core.h>

#include <functional>

#include "properties/decode/simulation.hpp"
#include "properties/decode/tiny_decoder.hpp"
#include "properties/decode/verdicts.hpp"
#include "properties/gate/progress.hpp"

namespace assay::properties {
namespace {

using decode::Judgement;
using kernels::Device;
using kernels::DeviceKind;
using kernels::matmul_nbits::Levers;

constexpr std::string_view name = "decode";

/// What nodes of one row and of many have to launch; a kernel among them that never ran is a vacuous row.
const std::vector<std::string> node_kernels = {"gemv_split_k", "narrow_staging", "dequantize_fp16",
                                               "gemm_mma"};

std::string place_of(std::string_view route, const Device& device) {
  return fmt::format("{}/{} on {}", name, route, to_string(device.kind()));
}

/// Counts `elements` as compared, unless one of the judgements is vacuous: then they prove nothing.
void record(const std::vector<Judgement>& judgements, const Device& device, std::uint64_t elements, Row& row,
            Recorder& recorder) {
  const std::string place = place_of(row.route, device);
  row.elements = elements;
  for (const Judgement& judgement : judgements) {
    if (judgement.verdict == Verdict::vacuous) {
      row.elements = 0;
      recorder.result().notes.push_back(fmt::format("vacuous: {}: {}", place, judgement.reason));
    }
    if (judgement.verdict == Verdict::fail) ++row.failed;
    for (Finding finding : judgement.findings) {
      finding.place = place;
      recorder.add(std::move(finding));
    }
  }
}

void check_simulation(Device& device, Level level, Row& row, Recorder& recorder, Progress& progress) {
  row.kernels = node_kernels;
  progress.expect(decode::decode_passes().size());
  const decode::Reduction reduction = decode::reduction_of(level, device.kind());
  const decode::SimulationRun run = decode::simulate_decode(device, reduction, progress);
  row.cases += run.nodes;
  for (const auto& [kernel, count] : run.launches) row.launches[kernel] += count;
  std::uint64_t elements = 0;
  for (const std::uint64_t of_phase : run.record.elements) elements += of_phase;
  record({decode::judge_simulation(run.record)}, device, elements, row, recorder);
  std::string extents = "extents whole";
  if (reduction.n > 1 || reduction.k > 1) {
    extents = fmt::format("n divided by {} and k by {}, on which the counts do not depend", reduction.n,
                          reduction.k);
  }
  recorder.result().notes.push_back(fmt::format("{}, 64 tokens of a 30 B decoder, {}: {}",
                                                place_of(row.route, device), extents,
                                                decode::describe_casts(run.record)));
}

void check_greedy(Device& device, Row& row, Recorder& recorder, Progress& progress) {
  row.kernels = node_kernels;
  const bool both_devices = device.kind() != DeviceKind::cpu;
  progress.expect(both_devices ? 3 : 2);
  const auto tensor_cores = decode::tensor_cores_of(device);
  const auto decoded = [&](bool restore_staging) {
    decode::RunRecord run = decode::decode_greedily(device, tensor_cores, Levers{restore_staging});
    progress.step();
    row.cases += run.texts.size();
    for (const auto& [kernel, count] : run.launches) row.launches[kernel] += count;
    return run;
  };
  const decode::RunRecord direct = decoded(false), staged = decoded(true);
  std::vector<Judgement> judgements = {
      decode::judge_levers(direct, staged, to_string(device.kind()), device.name())};
  if (both_devices) {
    // The cpu device is always there; its launches are not this row's.
    Device& cpu = *kernels::device(DeviceKind::cpu);
    judgements.push_back(
        decode::judge_devices(decode::decode_greedily(cpu, tensor_cores, Levers{false}), direct));
    progress.step();
    if (judgements.back().verdict == Verdict::pass)
      recorder.result().identical_across_devices += direct.texts.size();
  }
  std::uint64_t tokens = 0;
  for (const auto& text : direct.texts) tokens += text.size();
  record(judgements, device, tokens, row, recorder);
}

void run(Device& device, Level level, const std::function<bool(std::string_view)>& selected,
         Recorder& recorder) {
  Progress progress{std::string(name)};
  const auto check = [&](std::string_view route, const std::function<void(Row&)>& body) {
    if (!selected(route)) return;
    Row& row = recorder.row(name, route, to_string(device.kind()));
    std::string fault;
    try {
      body(row);
      return;
    } catch (const executor::ExecutorError& stopped) {
      fault = stopped.what();
    } catch (const kernels::DeviceError& stopped) {
      fault = stopped.what();
    }
    ++row.failed;
    recorder.add(Finding{Code::kernel_fault, fault, place_of(route, device), {}, {}, ""});
  };
  check("simulation", [&](Row& row) { check_simulation(device, level, row, recorder, progress); });
  check("greedy", [&](Row& row) { check_greedy(device, row, recorder, progress); });
}

std::vector<std::string> names() { return {"simulation", "greedy"}; }

const Battery battery{name,
                      "the nodes of a decoder: casts against direct stores, and greedy decode under both "
                      "levers and on both devices",
                      names, run};
const RegisterBattery registration(&battery);

}  // namespace
}  // namespace assay::properties
