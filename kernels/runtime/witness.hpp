// The witness: what really ran.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/executor/executor.hpp"

namespace assay::kernels {

/// One kernel launch as the launch layer saw it. On cuda the name is read back from the function that was
/// launched (cudaFuncGetName), on cpu it is the symbol given to ASSAY_LAUNCH; template arguments are dropped
/// in both.
struct LaunchRecord {
  std::string kernel;
  executor::Dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
  const void* function = nullptr;  ///< on cuda, what was launched: its resources can be asked for
};

struct Witness {
  std::string device;       ///< "cpu" | "cuda"
  std::string device_name;  ///< "executor, 2 workers" | "NVIDIA H200"
  std::vector<LaunchRecord> launches;
  std::map<std::string, std::uint64_t> counters;  ///< route-defined (e.g. blocks cast)
  std::string binary_hash;                        ///< build id of the running program

  std::uint64_t launches_of(std::string_view kernel) const;
};

/// Hex build id of the running program, from its ELF note; "unknown" when it has none.
const std::string& binary_hash();

}  // namespace assay::kernels
