#include "kernels/matmul_nbits/node.hpp"

#include <cassert>
#include <cstdlib>
#include <string>

#include "kernels/matmul_nbits/kernels.hpp"

namespace assay::kernels::matmul_nbits {
namespace {

std::byte* at(const Problem& problem, std::size_t offset) {
  return static_cast<std::byte*>(problem.workspace) + offset;
}

/// A node under way: where its results go, and what it counts.
class Node {
 public:
  Node(LaunchContext& context, const Problem& problem, Levers levers)
      : context_(context),
        problem_(problem),
        run_(launches(context.device.kind())),
        workspace_(workspace_of(problem)),
        stages_(problem.model == Model::bf16) {
    if (!stages_) return;
    offer_ = {at(problem, workspace_.staging), problem.y, problem.m * problem.n};
    if (levers.restore_staging) ++counter("direct_store.withheld");
    offered_ = !levers.restore_staging;
  }

  void run() {
    switch (problem_.schedule) {
      case Schedule::split_k:
        run_rows();
        break;
      case Schedule::tile:
        run_.tile_16x16(context_, problem_, result());
        offer_to({result(), problem_.m * problem_.n, false});
        break;
      case Schedule::mma:
        run_.dequantize_fp16(context_, problem_, at(problem_, workspace_.weights));
        run_.gemm_mma(context_, problem_, at(problem_, workspace_.weights), result());
        offer_to({result(), problem_.m * problem_.n, false});
        break;
      case Schedule::multicol:
      case Schedule::natural:
        assert(false && "no node runs this schedule");
    }
    if (!stages_ || offer_.taken) return;
    run_.narrow_staging(context_, result(), problem_.y, problem_.m * problem_.n);
    ++counter("cast.launches");
  }

 private:
  std::uint64_t& counter(const std::string& name) { return context_.witness.counters[name]; }

  /// Where the schedule's own result goes: fp16, or fp32 in an fp32 model.
  void* result() const { return stages_ ? at(problem_, workspace_.staging) : problem_.y; }

  /// Offers the direct store to a launch; true when it takes it.
  bool offer_to(const LaunchOutput& output) {
    if (!stages_ || !offered_) return false;
    const Decline decline = accept(offer_, output);
    ++counter(decline == Decline::none ? "direct_store.accepted"
                                       : "direct_store.declined: " + std::string(to_string(decline)));
    return decline == Decline::none;
  }

  void run_rows() {
    for (std::int64_t row = 0; row < problem_.m; ++row) {
      Problem one = problem_;
      one.m = 1;
      one.a = static_cast<const std::uint16_t*>(problem_.a) + row * problem_.k;
      void* const out = static_cast<std::uint16_t*>(result()) + row * problem_.n;
      if (offer_to({out, problem_.n, true})) {
        run_.gemv_split_k(context_, one, offer_.destination, Store::bf16);
      } else {
        run_.gemv_split_k(context_, one, out, Store::fp16);
      }
    }
  }

  LaunchContext& context_;
  const Problem& problem_;
  const Launches& run_;
  Workspace workspace_;
  bool stages_;  ///< a bf16 model: fp16 first
  bool offered_ = false;
  DirectStoreOffer offer_;
};

}  // namespace

std::string_view to_string(Decline decline) {
  switch (decline) {
    case Decline::none:
      return "";
    case Decline::pointer:
      return "another pointer";
    case Decline::elements:
      return "not the whole result";
    case Decline::taken:
      return "already taken";
    case Decline::no_narrowing_store:
      return "no narrowing store";
  }
  assert(false && "unknown decline");
  return "";
}

Decline accept(DirectStoreOffer& offer, const LaunchOutput& output) {
  if (!output.narrows) return Decline::no_narrowing_store;
  if (output.pointer != offer.staging) return Decline::pointer;
  if (output.elements != offer.elements) return Decline::elements;
  if (offer.taken) return Decline::taken;
  offer.taken = true;
  return Decline::none;
}

Levers levers_from_environment() {
  const char* const value = std::getenv("ASSAY_RESTORE_STAGING");
  const std::string_view text = value == nullptr ? "" : value;
  return {!text.empty() && text != "0"};
}

Schedule schedule_of_node(std::int64_t m, std::int64_t k, unsigned bits, unsigned block) {
  if (bits != 4 || block != 32) return Schedule::mma;
  const bool rows = m == 1 || (m <= loop_max_m && k % 8 == 0);
  return rows ? Schedule::split_k : Schedule::mma;
}

void run_node(LaunchContext& context, const Problem& problem, Levers levers) {
  Node(context, problem, levers).run();
}

}  // namespace assay::kernels::matmul_nbits
