// A decode of 64 tokens, as far as its MatMulNBits nodes go: which of them cast, and which store directly.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/runtime/device.hpp"
#include "properties/decode/verdicts.hpp"
#include "properties/gate/family.hpp"
#include "properties/gate/progress.hpp"

namespace assay::properties::decode {

/// A projection: y [m, n] = x [m, k] times its weights.
struct Projection {
  std::string_view name;
  std::int64_t n, k;
};

/// The projections of one layer, in the order they run, and the one after the last layer.
std::vector<Projection> layer_projections();
Projection head_projection();
inline constexpr std::int64_t decoder_layers = 64;

/// One pass over all nodes with the rows of `tokens` tokens.
struct Pass {
  std::int64_t first_token, tokens;
  Phase phase() const;
};

/// The passes of the decode: one over the prompt, a few over drafted tokens, then token by token; 64 tokens
/// in all.
std::vector<Pass> decode_passes();

/// What the extents of the decoder are divided by. Neither schedules nor offers depend on extents, so the
/// counts are those of the whole decoder.
struct Reduction {
  std::int64_t n = 1, k = 1;
};

/// Whole on cuda from level full on; else as much as the time of that device allows.
Reduction reduction_of(Level, kernels::DeviceKind);

/// n divided, rounded up to a multiple of 8; k divided, rounded up to whole blocks of 32.
Projection reduced(const Projection&, const Reduction&);

struct SimulationRun {
  Simulation record;
  std::map<std::string, std::uint64_t> launches;  ///< kernel name -> launches, both levers
  std::uint64_t nodes = 0;                        ///< that ran, both levers
};

/// Runs every pass without the lever and with it. Layers share weights, but not inputs. Throws DeviceError
/// and ExecutorError.
SimulationRun simulate_decode(kernels::Device&, const Reduction&, Progress&);

}  // namespace assay::properties::decode
