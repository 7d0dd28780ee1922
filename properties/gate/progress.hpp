// Progress on a terminal for work over two seconds; silent in a log.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace assay::properties {

/// Rewrites one line of stderr when it is a terminal: "gate  431/912  mxfp8_cast  61 M elements/s  3 s left".
/// Shows nothing in the first two seconds, and clears its line when it ends.
class Progress {
 public:
  explicit Progress(std::string title);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `steps` more steps (cases, properties, tensors) are to come.
  void expect(std::uint64_t steps) { total_ += steps; }

  /// `elements` more elements judged; `what` is shown beside the counts. The rate is shown once there are
  /// any.
  void work(const std::string& what, std::uint64_t elements);

  /// One step done.
  void step() { ++steps_; }

 private:
  using Clock = std::chrono::steady_clock;
  std::string title_;
  std::uint64_t total_ = 0, steps_ = 0, elements_ = 0;
  bool terminal_, shown_ = false;
  Clock::time_point start_, last_;
};

}  // namespace assay::properties
