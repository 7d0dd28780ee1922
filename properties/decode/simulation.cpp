#include "properties/decode/simulation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <memory>

#include "properties/decode/int4_matrix.hpp"
#include "properties/gate/buffers.hpp"

namespace assay::properties::decode {
namespace {

using kernels::Device;
using kernels::DeviceBuffer;
using kernels::matmul_nbits::Levers;
using kernels::matmul_nbits::Problem;

constexpr std::uint64_t seed = 0x64656364;
constexpr std::int64_t all_tokens = 64;

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

/// Inputs [rows, k] of all projections with that k. Layer `l` takes row t + l for token t, so that layers do
/// not repeat each other though they share weights.
struct Activations {
  std::int64_t k = 0;
  std::unique_ptr<DeviceBuffer> buffer;
};

/// Everything that stays on the device for all passes.
class Decoder {
 public:
  Decoder(Device& device, const Reduction& reduction) : device_(device) {
    std::vector<Projection> all = layer_projections();
    all.push_back(head_projection());
    for (const Projection& whole : all) {
      const Projection one = reduced(whole, reduction);
      matrices_.emplace_back(device, std::string(one.name), one.n, one.k, seed, matrices_.size());
      names_.emplace_back(one.name);
      if (std::none_of(activations_.begin(), activations_.end(), [&](const auto& a) { return a.k == one.k; }))
        add_activations(one.k);
    }
  }

  std::size_t nodes() const { return decoder_layers * (matrices_.size() - 1) + 1; }
  const Int4Matrix& matrix(std::size_t node) const { return matrices_[kind(node)]; }
  std::string describe(std::size_t node) const {
    const std::size_t index = kind(node);
    return index + 1 == matrices_.size() ? names_[index]
                                         : fmt::format("layer {}, {}", layer(node), names_[index]);
  }

  /// The node of a pass; without y and workspace.
  Problem problem(std::size_t node, const Pass& pass) const {
    const Int4Matrix& weights = matrix(node);
    const auto found = std::find_if(activations_.begin(), activations_.end(),
                                    [&](const auto& a) { return a.k == weights.k(); });
    const std::int64_t row = pass.first_token + static_cast<std::int64_t>(layer(node));
    const auto* const a = static_cast<const Code16*>(found->buffer->data()) + row * weights.k();
    const unsigned multiprocessors = device_.capability().multiprocessors;
    return weights.node(pass.tokens, a, nullptr,
                        kernels::matmul_nbits::k_split_for(weights.n(), multiprocessors),
                        tensor_cores_of(device_));
  }

 private:
  std::size_t layer(std::size_t node) const { return node / (matrices_.size() - 1); }
  std::size_t kind(std::size_t node) const {
    return node + 1 == nodes() ? matrices_.size() - 1 : node % (matrices_.size() - 1);
  }

  void add_activations(std::int64_t k) {
    const auto count = static_cast<std::size_t>((all_tokens + decoder_layers) * k);
    const std::vector<Code16> codes = random_bf16(count, -3, 0, seed, 1000 + activations_.size());
    auto buffer = device_.allocate(fmt::format("activations of {}", k), count * sizeof(Code16), 256);
    buffer->upload(bytes_of(codes));
    activations_.push_back({k, std::move(buffer)});
  }

  Device& device_;
  std::vector<Int4Matrix> matrices_;
  std::vector<std::string> names_;
  std::vector<Activations> activations_;
};

/// The buffers that a pass writes; passes with as many tokens share them.
class PassBuffers {
 public:
  PassBuffers(Device& device, const Decoder& decoder, const Pass& pass) : tokens_(pass.tokens) {
    std::size_t workspace = 0;
    for (std::size_t node = 0; node < decoder.nodes(); ++node) {
      const auto elements = static_cast<std::size_t>(pass.tokens * decoder.matrix(node).n());
      results_.push_back(device.allocate(decoder.describe(node), elements * sizeof(Code16), 256));
      workspace = std::max(workspace, kernels::matmul_nbits::workspace_bytes(decoder.problem(node, pass)));
    }
    workspace_ = device.allocate("workspace", std::max<std::size_t>(workspace, 1), 256);
  }

  std::int64_t tokens() const { return tokens_; }

  void collect_damage(std::vector<kernels::GuardDamage>& damage) const {
    for (const auto& result : results_) {
      if (auto found = result->guard_damage()) damage.push_back(*found);
    }
    if (auto found = workspace_->guard_damage()) damage.push_back(*found);
  }

  /// Runs all nodes over poisoned results and hands out what they hold then.
  Contents run(Device& device, const Decoder& decoder, const Pass& pass, Levers levers, Casts& casts,
               std::map<std::string, std::uint64_t>& launches) {
    for (auto& result : results_) result->upload(poisoned(result->bytes(), levers.restore_staging));
    workspace_->upload(poisoned(workspace_->bytes(), levers.restore_staging));
    kernels::Witness witness;
    kernels::LaunchContext context{device, witness};
    for (std::size_t node = 0; node < decoder.nodes(); ++node) {
      Problem problem = decoder.problem(node, pass);
      problem.y = results_[node]->data();
      problem.workspace = workspace_->data();
      kernels::matmul_nbits::run_node(context, problem, levers);
    }
    device.synchronize();
    casts += casts_of(witness, decoder.nodes());
    for (const auto& launch : witness.launches) ++launches[launch.kernel];
    Contents contents;
    for (auto& result : results_) {
      contents.emplace_back(result->bytes());
      result->download(contents.back());
    }
    return contents;
  }

 private:
  std::int64_t tokens_;
  std::vector<std::unique_ptr<DeviceBuffer>> results_;
  std::unique_ptr<DeviceBuffer> workspace_;
};

std::uint64_t numbers_in(std::span<const std::byte> bytes) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(Code16)) {
    Code16 code = 0;
    std::memcpy(&code, &bytes[i], sizeof code);
    count += (code & 0x7FFFu) != 0 && (code & 0x7F80u) != 0x7F80u;
  }
  return count;
}

/// Counts elements and the nodes that differ. Results were poisoned differently, so equal ones were written.
void compare(const Decoder& decoder, const Pass& pass, const Contents& direct, const Contents& staged,
             Simulation& record) {
  for (std::size_t node = 0; node < direct.size(); ++node) {
    const auto phase = static_cast<std::size_t>(pass.phase());
    record.elements[phase] += direct[node].size() / sizeof(Code16);
    record.numbers[phase] += numbers_in(direct[node]);
    const auto at = std::mismatch(direct[node].begin(), direct[node].end(), staged[node].begin()).first;
    if (at == direct[node].end()) continue;
    if (record.differing_nodes++ > 0) continue;
    const std::int64_t element = (at - direct[node].begin()) / static_cast<std::ptrdiff_t>(sizeof(Code16));
    const std::int64_t n = decoder.matrix(node).n();
    record.first_difference =
        fmt::format("{}, tokens {} to {}: first at y[{}, {}]", decoder.describe(node), pass.first_token,
                    pass.first_token + pass.tokens - 1, element / n, element % n);
  }
}

}  // namespace

std::vector<Projection> layer_projections() {
  // A dense decoder of 32.8 G parameters with grouped heads: 64 layers, hidden size 5120, 40 query heads and
  // 8 key/value heads of 128, an MLP of 27648, a vocabulary of 152064.
  constexpr std::int64_t hidden = 5120, head = 128, query_heads = 40, key_heads = 8, mlp = 27648;
  return {{"q", query_heads * head, hidden},
          {"k", key_heads * head, hidden},
          {"v", key_heads * head, hidden},
          {"o", hidden, query_heads * head},
          {"gate", mlp, hidden},
          {"up", mlp, hidden},
          {"down", hidden, mlp}};
}

Projection head_projection() { return {"head", 152064, 5120}; }

Phase Pass::phase() const {
  if (tokens == 1) return Phase::step;
  return tokens <= kernels::matmul_nbits::loop_max_m ? Phase::rows : Phase::prefill;
}

std::vector<Pass> decode_passes() {
  std::vector<Pass> passes;
  std::int64_t token = 0;
  const auto add = [&](std::int64_t tokens) {
    passes.push_back({token, tokens});
    token += tokens;
  };
  for (const std::int64_t tokens : {50, 4, 2}) add(tokens);
  while (token < all_tokens) add(1);
  return passes;
}

Reduction reduction_of(Level level, kernels::DeviceKind device) {
  if (device == kernels::DeviceKind::cuda) return level == Level::quick ? Reduction{8, 8} : Reduction{1, 1};
  return level == Level::quick ? Reduction{1024, 160} : Reduction{256, 40};
}

Projection reduced(const Projection& whole, const Reduction& by) {
  assert(by.n >= 1 && by.k >= 1);
  return {whole.name, rounded_up((whole.n + by.n - 1) / by.n, 8),
          rounded_up((whole.k + by.k - 1) / by.k, weight_block)};
}

SimulationRun simulate_decode(Device& device, const Reduction& reduction, Progress& progress) {
  const Decoder decoder(device, reduction);
  SimulationRun run;
  std::unique_ptr<PassBuffers> buffers;
  for (const Pass& pass : decode_passes()) {
    if (!buffers || buffers->tokens() != pass.tokens) {
      if (buffers) buffers->collect_damage(run.record.damage);
      buffers.reset();  // the old ones are gone before the new ones are made
      buffers = std::make_unique<PassBuffers>(device, decoder, pass);
    }
    const auto phase = static_cast<std::size_t>(pass.phase());
    const Contents direct =
        buffers->run(device, decoder, pass, Levers{false}, run.record.direct[phase], run.launches);
    const Contents staged =
        buffers->run(device, decoder, pass, Levers{true}, run.record.staged[phase], run.launches);
    compare(decoder, pass, direct, staged, run.record);
    run.nodes += 2 * decoder.nodes();
    progress.step();
  }
  buffers->collect_damage(run.record.damage);
  return run;
}

}  // namespace assay::properties::decode
