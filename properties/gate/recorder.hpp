// Collects rows and findings while a gate runs.
#pragma once

#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "properties/gate/judge.hpp"
#include "properties/gate/verdict.hpp"

namespace assay::properties {

/// The finding that the run was to stop at is recorded. Thrown through whatever runs, so that no loop of a
/// family or a battery has to ask.
struct StoppedEarly {};

class Recorder {
 public:
  /// `until`: the text in a finding's pattern that ends the run; empty: none does.
  explicit Recorder(std::string until = "") : until_(std::move(until)) {}

  /// The row of that route and device, made on first use. Rows keep the order in which they were first asked
  /// for.
  Row& row(std::string_view family, std::string_view route, std::string_view device);

  /// Adds one judged case to its row, and its findings.
  void add(Row&, const CaseResult&);

  /// The same without the findings, for a case whose findings are told elsewhere.
  void add_counts(Row&, const CaseResult&);

  /// As add_counts, but a failure is not counted: a case that ran inside a property, which shrinks before it
  /// tells.
  void count(Row&, const CaseResult&);

  /// Keeps the first finding of each kind (place, code, patterns) and counts the others as suppressed. Throws
  /// StoppedEarly when it is the one to stop at; what is to be counted of it must have been counted before.
  void add(Finding);

  /// Adds each; true when there was none.
  bool add(std::vector<Finding>);

  GateResult& result() { return result_; }

 private:
  std::string until_;
  GateResult result_;
  std::set<std::tuple<std::string, Code, std::vector<std::string>>> kinds_;
};

}  // namespace assay::properties
