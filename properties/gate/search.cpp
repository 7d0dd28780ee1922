#include "properties/gate/search.hpp"

#include <rapidcheck/detail/TestListenerAdapter.h>

#include <stdexcept>
#include <unordered_map>

namespace assay::properties {
namespace {

/// What RapidCheck says of a search that ended without a counter-example and without success.
std::string why(const rc::detail::TestResult& result) {
  rc::detail::FailureResult failure;
  rc::detail::GaveUpResult gave_up;
  rc::detail::Error error;
  if (result.match(failure)) return failure.description;
  if (result.match(gave_up)) return gave_up.description;
  return result.match(error) ? error.description : "success";
}

}  // namespace

std::string search(const Bench& bench, const std::function<std::string(std::size_t& compared)>& attempt) {
  std::string smallest;  // RapidCheck accepts a shrink only when it fails again, so the last failure it saw
  std::size_t compared = 0;
  rc::detail::TestParams params;
  params.seed = bench.seed();
  params.maxSuccess = bench.tries();
  // The full form, because the others read RapidCheck's configuration, which prints a random seed and obeys
  // RC_PARAMS.
  rc::detail::TestListenerAdapter silent;
  const auto result = rc::detail::checkTestable(
      [&] {
        std::string tokens = attempt(compared);
        if (tokens.empty()) return;
        smallest = std::move(tokens);
        RC_FAIL("");
      },
      rc::detail::TestMetadata{}, params, silent, std::unordered_map<std::string, rc::detail::Reproduce>{});
  if (smallest.empty() && !result.is<rc::detail::SuccessResult>())
    throw std::logic_error("a property's generator failed: " + why(result));  // never silently green
  if (smallest.empty() && compared == 0) return std::string(compared_nothing);
  return smallest;
}

}  // namespace assay::properties
