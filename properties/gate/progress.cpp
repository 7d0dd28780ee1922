#include "properties/gate/progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace assay::properties {

Progress::Progress(std::string title, std::uint64_t total_steps)
    : title_(std::move(title)),
      total_(total_steps),
      terminal_(isatty(STDERR_FILENO) == 1),
      start_(Clock::now()),
      last_(start_) {}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}

void Progress::step(const std::string& what, std::uint64_t elements) {
  ++steps_;
  elements_ += elements;
  if (!terminal_) return;
  const auto now = Clock::now();
  using namespace std::chrono_literals;
  if (now - start_ < 2s || now - last_ < 100ms) return;
  last_ = now;
  shown_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double left =
      steps_ ? seconds / static_cast<double>(steps_) * static_cast<double>(total_ - std::min(steps_, total_))
             : 0;
  fmt::print(stderr, "\r\033[K{}  {}/{}  {}  {:.0f} M elements/s  {:.0f} s left", title_, steps_, total_,
             what, static_cast<double>(elements_) / seconds / 1e6, left);
  std::fflush(stderr);
}

}  // namespace assay::properties
