// Progress on a terminal for work over two seconds; silent in a log.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace assay::properties {

/// Rewrites one line of stderr when it is a terminal: "gate  mxfp8_cast/register  431/912 cases  61 M
/// elements/s  3 s left". Shows nothing in the first two seconds, and clears its line when it ends.
class Progress {
 public:
  Progress(std::string title, std::uint64_t total_steps);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// One step (a case) done, `elements` more elements judged; `what` is shown beside the counts.
  void step(const std::string& what, std::uint64_t elements);

 private:
  using Clock = std::chrono::steady_clock;
  std::string title_;
  std::uint64_t total_, steps_ = 0, elements_ = 0;
  bool terminal_, shown_ = false;
  Clock::time_point start_, last_;
};

}  // namespace assay::properties
