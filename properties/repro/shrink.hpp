// From a failing case to the smallest one that fails in the same way: fewest elements in the smallest shape,
// with the simplest values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "properties/gate/case_text.hpp"
#include "properties/repro/failure.hpp"

namespace assay::properties::repro {

struct ShrinkOptions {
  /// Cases that may be judged; what is smallest by then is the result.
  std::uint64_t most_judgements = 2000;
  /// Told of every judgement: what is being done, and the elements of the case.
  std::function<void(const char* what, std::size_t elements)> progress;
};

struct Shrunk {
  CaseText text;  ///< with route and device
  std::string token;
  Contents contents;  ///< of given()
  std::uint64_t judgements = 0;
  std::size_t elements_before = 0, elements = 0;  ///< that the case begins with, structural ones aside
  std::size_t nonzero = 0;                        ///< of `elements`
  bool finished = false;                          ///< nothing more could be left out
};

/// Shrinks a case that failed in that way on that route and device and left those first wrong elements
/// (failure.hpp; none where it left none): it is not judged again, which may cost more than all the rest. In
/// turn, until nothing changes: the first of the workload's reductions that still fails so, again and again;
/// elements set to zero, whole buffers first, then in halves down to single ones; values made simpler: 1, a
/// power of two, positive, fewer bits of mantissa. Each step is judged. Deterministic.
Shrunk shrink(const Family&, Workload&, std::size_t route, kernels::Device&, const FailureClass&,
              std::vector<Element> wrong, const ShrinkOptions& = {});

}  // namespace assay::properties::repro
