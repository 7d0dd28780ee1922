// The schedule's running error bound beside the true value, element by element.
#pragma once

#include <cstddef>
#include <functional>

#include "oracles/gated_delta/oracle.hpp"

namespace assay::oracles::gated_delta {

/// A number as the schedule computes it, rounded to its format, and how far that may be from the true one (0
/// if nothing was rounded, not finite if there is no bound); what is known of the true one.
struct Known {
  float computed;
  double bound, truth, of_truth;
};
using Sink = std::function<void(std::size_t index, const Known&)>;

/// Runs the schedule. Calls `out` with every element of o, and `state` with every element that is written of
/// the pool, of the last step; not for sequences without a slot. From several threads, each index once.
void follow(const Contracts&, const Shape&, const Operands&, unsigned threads, const Sink& out,
            const Sink& state);

/// The intervals of Judge::bound, but for the ranges that are untouched, where the codes are what they were.
Accepted bound(const Contracts&, const Shape&, const Operands&, unsigned threads);

}  // namespace assay::oracles::gated_delta
