// Every wrapper of this folder as something that can be run over a range of inputs, so that instruction, twin
// on the same device and twin on the host can be compared bit for bit.
//
// An input is one number. Where an instruction takes more than 32 bits of operands, it stands for a tuple
// that a pure function of the number spells out (operand tables below), the same on every device.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/runtime/device.hpp"

namespace assay::kernels {

struct WrapperProbe {
  std::string_view name;  ///< of the wrapper
  /// 16 or 32 where every input of the instruction is in the domain; 0 where the domain is an operand table.
  int exhaustive_bits;
  std::uint64_t domain;  ///< inputs are 0 .. domain - 1
  int output_bits;       ///< 16 or 32; an output is stored as one little-endian integer of that size

  /// Write `count` outputs of inputs first, first + 1, ... to `out`, of at least count * output_bits / 8
  /// bytes and 16-byte aligned. `count` is a multiple of 8 for loads and stores, which move several words at
  /// a time; `first` and `count` are multiples of 128 for matrix multiply-adds, which make a tile of D. The
  /// witness gains one launch of probe_instruction or probe_twin (for loads, stores, bulk copies and matrices
  /// one of a probe kernel of theirs, whose bytes another prepares). Returns before completion on cuda. Bulk
  /// copies throw DeviceError on a GPU before sm_90.
  using Run = void (*)(LaunchContext&, std::uint64_t first, std::uint32_t count, DeviceBuffer& out);
  Run run_instruction;
  Run run_twin;

  std::uint32_t (*host_twin)(std::uint32_t input);
  /// host_twin takes so long that most outputs of a large domain are better compared with run_twin's.
  bool slow_host_twin = false;
};

/// The probes of that device, in a fixed order; empty for cuda in a build without the toolkit. On cpu the
/// wrapper is the twin, run by the executor.
std::span<const WrapperProbe> wrapper_probes(DeviceKind);

}  // namespace assay::kernels
