#include "properties/gate/progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace assay::properties {

Progress::Progress(std::string title)
    : title_(std::move(title)), terminal_(isatty(STDERR_FILENO) == 1), start_(Clock::now()), last_(start_) {}

Progress::~Progress() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void Progress::work(const std::string& what, std::uint64_t elements) {
  elements_ += elements;
  if (!terminal_) return;
  const auto now = Clock::now();
  using namespace std::chrono_literals;
  if (now - start_ < 2s || now - last_ < 100ms) return;
  last_ = now;
  shown_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::string line = fmt::format("\r\033[K{}  {}/{}  {}", title_, steps_, total_, what);
  if (elements_ > 0)
    line += fmt::format("  {:.0f} M elements/s", static_cast<double>(elements_) / seconds / 1e6);
  if (steps_ > 0 && steps_ < total_) {
    const double per_step = seconds / static_cast<double>(steps_);
    line += fmt::format("  {:.0f} s left", per_step * static_cast<double>(total_ - steps_));
  }
  std::fputs(line.c_str(), stderr);  // never throws: a terminal that went away is no reason to stop
  std::fflush(stderr);
}

}  // namespace assay::properties
