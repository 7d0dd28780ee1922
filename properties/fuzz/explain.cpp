// The words of `assay explain`, one a line. A number is read as the C library reads it, which rounds
// correctly too.
#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "oracles/formats/codec.hpp"
#include "properties/cli/commands.hpp"
#include "properties/cli/exact_text.hpp"
#include "properties/fuzz/fuzz.hpp"

namespace assay::fuzz {
namespace {

/// While it lives, what is printed goes nowhere.
class QuietOutput {
 public:
  QuietOutput() {
    std::fflush(stdout);
    dup2(null(), STDOUT_FILENO);
  }
  ~QuietOutput() {
    std::fflush(stdout);
    dup2(kept_, STDOUT_FILENO);
    close(kept_);
  }
  QuietOutput(const QuietOutput&) = delete;
  QuietOutput& operator=(const QuietOutput&) = delete;

 private:
  static int null() {
    static const int descriptor = open("/dev/null", O_WRONLY | O_CLOEXEC);
    return descriptor;
  }
  int kept_ = dup(STDOUT_FILENO);
};

void check_number(const std::string& word) {
  using namespace formats;
  const auto value = cli::parse_exact(word);
  if (!value) return;
  char* end = nullptr;
  const float expected = std::strtof(word.c_str(), &end);
  claim(end == word.c_str() + word.size(), "a number to us, none to strtof");
  std::uint32_t bits = 0;
  std::memcpy(&bits, &expected, sizeof bits);
  const std::uint32_t code = encode(Format::fp32, *value, Rounding::nearest_even, Overflow::propagate);
  if (std::isnan(expected)) {
    claim(value->kind == Kind::nan, "NaN to strtof only");
  } else {
    claim(code == bits, "another fp32 than strtof's");
  }
}

void run(Bytes bytes) {
  std::vector<std::string> words;
  std::string_view rest = text_of(bytes);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    // A word of the command line has no NUL.
    words.emplace_back(rest.substr(0, std::min(rest.substr(0, end).find('\0'), end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (const std::string& word : words) check_number(word);
  const QuietOutput quiet;
  accepted([&] { cli::explain(words); });
}

const Register registered({"explain", run});

}  // namespace
}  // namespace assay::fuzz
