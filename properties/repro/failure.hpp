// What a failure is, so that another case can be told to fail in the same way.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kernels/runtime/device.hpp"
#include "properties/gate/judge.hpp"

namespace assay::properties::repro {

/// The diagnostic and the first of its patterns, which is empty where no known fault explains the damage.
struct FailureClass {
  Code code{};
  std::string pattern;
  bool operator==(const FailureClass&) const = default;
};

/// "A001 truncation"; "A001 without a pattern".
std::string to_string(const FailureClass&);

/// Of the first finding; nothing for a case without findings.
std::optional<FailureClass> class_of(const std::vector<Finding>&);

/// A stored element of an output.
struct Element {
  std::size_t output = 0, index = 0;
};

/// The first wrong element of each output that has one, of the first run or, where that is right, of the
/// second; nothing when the runs left no wrong element (a guard zone was written, another path ran).
std::vector<Element> first_wrong(Workload&, const Execution&);

/// Judges on one route of one device whether cases fail in one given way.
class SameFailure {
 public:
  SameFailure(const Family& family, std::size_t route, kernels::Device& device, FailureClass failure)
      : family_(family), route_(route), device_(device), failure_(std::move(failure)) {}

  /// Whether it does. The family names the damage only where the diagnostic is the same, as that costs many
  /// times what judging does. Where it fails, `wrong` has the first wrong elements.
  bool of(Workload&, std::vector<Element>* wrong = nullptr);

  /// How often a kernel ran for it; a case that the route does not take costs nothing.
  std::uint64_t judgements() const { return judgements_; }

 private:
  const Family& family_;
  std::size_t route_;
  kernels::Device& device_;
  FailureClass failure_;
  std::uint64_t judgements_ = 0;
};

}  // namespace assay::properties::repro
