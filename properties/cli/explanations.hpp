// Long texts behind `assay explain`.
#pragma once

#include <span>
#include <string_view>

namespace assay::cli {

struct Explanation {
  std::string_view name;  ///< "A001", a damage pattern, or a term
  std::string_view title;
  std::string_view text;
};

std::span<const Explanation> diagnostics();
std::span<const Explanation> patterns();
std::span<const Explanation> terms();

}  // namespace assay::cli
