// What is made of the records that the two checks of the battery leave: pure functions, no device.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "properties/decode/int4_matrix.hpp"
#include "properties/gate/verdict.hpp"

namespace assay::properties::decode {

/// What a judgement comes to. `findings` say why it is a fail; `reason` why it is vacuous.
struct Judgement {
  Verdict verdict = Verdict::vacuous;
  std::vector<Finding> findings;
  std::string reason;
};

/// By how many rows a node has: `prefill` is a matrix product, `rows` a loop of one GEMV a row, `step` one
/// GEMV, which alone may store directly.
enum class Phase : std::uint8_t { prefill, rows, step };
inline constexpr std::size_t phases = 3;
std::string_view to_string(Phase);

using PhaseCasts = std::array<Casts, phases>;  ///< indexed by Phase

/// A decode that ran twice: offering direct stores, and with the lever that restores staging.
struct Simulation {
  PhaseCasts direct, staged;
  std::array<std::uint64_t, phases> elements{};  ///< of results compared between the two
  std::array<std::uint64_t, phases> numbers{};   ///< of those without the lever: finite and not zero
  std::uint64_t differing_nodes = 0;             ///< whose results have different bits
  std::string first_difference;
  std::vector<kernels::GuardDamage> damage;  ///< of results and workspaces
};

Casts total(const PhaseCasts&);

/// Results of which not half are numbers other than zero show nothing: vacuous, as is a phase that compared
/// nothing. Passes when the lever's casts less those without it are the accepted direct stores, every step
/// was accepted and nothing else, every other node cast once, the results have the same bits, and no
/// guard zone was written.
Judgement judge_simulation(const Simulation&);

/// "casts 6,286 with the lever, 1,796 without it: 4,490 fewer; 4,490 direct stores accepted".
std::string describe_casts(const Simulation&);

/// One greedy decode as its witness tells it.
struct RunRecord {
  std::string device, device_name;  ///< of the witness
  bool restore_staging = false;     ///< the lever it ran under
  Casts casts;
  std::map<std::string, std::uint64_t> launches;  ///< kernel name -> launches
  std::vector<std::vector<unsigned>> texts;       ///< tokens, one text for each prompt
};

/// Distinct tokens that a text must have, or it says nothing.
inline constexpr std::size_t least_distinct_tokens = 16;

/// Passes when both ran on that device, the first stored directly and the second, under the lever, did not,
/// and they produced the same tokens. Two records of one run, or of two runs that the witness cannot tell
/// apart, prove nothing and are vacuous.
Judgement judge_levers(const RunRecord& direct, const RunRecord& staged, std::string_view device,
                       std::string_view device_name);

/// Passes when one ran on cpu, the other on cuda, and they produced the same tokens.
Judgement judge_devices(const RunRecord& cpu, const RunRecord& cuda);

}  // namespace assay::properties::decode
