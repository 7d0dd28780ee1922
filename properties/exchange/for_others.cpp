#include "properties/exchange/for_others.hpp"

#include <algorithm>

#include "oracles/arithmetic/acceptance.hpp"
#include "oracles/formats/codec.hpp"

namespace assay::properties {

using arithmetic::Acceptance;
using formats::Format;

bool WorkloadForOthers::freed(const Acceptance& one) const {
  const bool wide = one.format == Format::fp32 || one.format == Format::fp16 || one.format == Format::bf16;
  return wide && one.nan == arithmetic::NanRule::canonical;
}

const std::vector<Acceptance>& WorkloadForOthers::acceptance() {
  const std::vector<Acceptance>& own = base().acceptance();
  if (std::none_of(own.begin(), own.end(), [this](const Acceptance& one) { return freed(one); })) return own;
  if (!acceptance_) {
    acceptance_ = own;
    for (Acceptance& one : *acceptance_)
      if (freed(one)) one.nan = arithmetic::NanRule::any;
  }
  return *acceptance_;
}

std::vector<Diagnosis> WorkloadForOthers::diagnose(const Contents& actual, const Contents& before) {
  const std::vector<Acceptance>& own = base().acceptance();
  Contents alike = actual;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (!freed(own[i])) continue;
    const int width = formats::storage_bytes(own[i].format);
    const std::uint32_t canonical = formats::canonical_nan(own[i].format);
    for (std::size_t element = 0; element < own[i].size(); ++element)
      if (formats::is_nan(own[i].format, arithmetic::load_code(alike[i], width, element)))
        arithmetic::store_code(alike[i], width, element, canonical);
  }
  return base().diagnose(alike, before);
}

}  // namespace assay::properties
