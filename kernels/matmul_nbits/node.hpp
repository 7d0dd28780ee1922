// A MatMulNBits node of a model as it is run: which schedule, the offer of a direct store, and the lever.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/matmul_nbits/matmul.hpp"

namespace assay::kernels::matmul_nbits {

/// A node of a bf16 model computes in fp16: its result goes into a staging buffer, and a launch of its own
/// narrows it to bf16. A GEMV that can narrow by itself takes this offer and leaves out both. The offer is
/// made by a node to the kernels that it calls, and is void when the node returns.
struct DirectStoreOffer {
  const void* staging = nullptr;  ///< where the node's whole result would be staged
  void* destination = nullptr;    ///< bf16, where it goes in the end
  std::int64_t elements = 0;      ///< of the whole result
  bool taken = false;
};

/// What a launch is about to write.
struct LaunchOutput {
  const void* pointer = nullptr;
  std::int64_t elements = 0;
  bool narrows = false;  ///< it has a bf16 store
};

enum class Decline : std::uint8_t { none, pointer, elements, taken, no_narrowing_store };
/// "another pointer", "not the whole result", "already taken", "no narrowing store"; "" of none.
std::string_view to_string(Decline);

/// The rule: accepted only by a launch that can narrow and writes the whole result, and only once. On
/// acceptance the offer is taken. One launch a row (1 < m <= 8) begins at the staging pointer in row 0 and
/// writes a row of the result, so the count of elements is part of the rule.
Decline accept(DirectStoreOffer&, const LaunchOutput&);

struct Levers {
  bool restore_staging = false;  ///< no offer is made
};
/// restore_staging when ASSAY_RESTORE_STAGING is set to anything but empty or 0.
Levers levers_from_environment();

/// Largest m of the loop that launches one GEMV a row; k % 8 == 0 is also needed.
inline constexpr std::int64_t loop_max_m = 8;

/// The schedule of a node: split_k up to loop_max_m (rows one by one; m == 1 with any k), else mma.
Schedule schedule_of_node(std::int64_t m, std::int64_t k, unsigned bits, unsigned block);

/// Runs a node under problem.schedule, which must be schedule_of_node's or tile. Counts in the witness, of
/// bf16 models:
///   direct_store.accepted         launches that stored bf16 themselves
///   direct_store.declined: WHY    launches that did not, by reason: to_string(Decline)
///   direct_store.withheld         nodes that made no offer because of the lever
///   cast.launches                 launches of narrow_staging
/// A counter that stays 0 is absent.
void run_node(LaunchContext&, const Problem&, Levers);

}  // namespace assay::kernels::matmul_nbits
