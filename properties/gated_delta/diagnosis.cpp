#include "properties/gated_delta/diagnosis.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "properties/comparator/comparator.hpp"

namespace assay::properties::gated_delta {
namespace {

struct NamedFault {
  oracle::Fault fault;
  std::string_view pattern, detail;
};
constexpr NamedFault named_faults[] = {
    {oracle::Fault::error_before_decay, "error before decay",
     "v was compared with what the state predicts before it is decayed"},
    {oracle::Fault::output_before_update, "output before update",
     "o was read from the decayed state, before the rank-1 update"},
    {oracle::Fault::state_transposed, "state transposed", "k and v were exchanged in the state"},
    {oracle::Fault::head_modulo, "key head modulo",
     "value head h was given key head h % H, not h / (HV / H)"},
    {oracle::Fault::decay_twice, "decay exponentiated twice", "the decay was exp(exp(g)), not exp(g)"},
    {oracle::Fault::decay_ignored, "decay ignored", "the state was not decayed"},
    {oracle::Fault::beta_rounded, "beta rounded", "beta was rounded to bf16 under the contract beta=fp32"},
    {oracle::Fault::beta_unrounded, "beta not rounded",
     "beta was not rounded to bf16 under the contract beta=bf16"},
    {oracle::Fault::beta_ignored, "beta ignored", "the correction was applied whole, as if beta were 1"},
    {oracle::Fault::scale_ignored, "scale of q ignored", "q was not multiplied by its scale"},
    {oracle::Fault::norm_ignored, "norms ignored", "q and k were not normalised"},
    {oracle::Fault::epsilon_ignored, "epsilon ignored", "nothing was added to the sums of squares"},
    {oracle::Fault::epsilon_other, "epsilon of the other contract",
     "1e-12 was added to the sums of squares for 1e-6, or the reverse"},
    {oracle::Fault::epsilon_outside, "epsilon outside the root",
     "epsilon was added to the root of the sum of squares, not to the sum"},
    {oracle::Fault::softplus_linear, "softplus linear", "softplus(x) was taken as x"},
    {oracle::Fault::dt_bias_ignored, "dt_bias ignored", "dt_bias was not added to a"},
    {oracle::Fault::sign_of_g, "sign of g lost", "the state grew by exp(-g), where it should decay"},
    {oracle::Fault::slots_ignored, "slots ignored", "sequence i was given slot i"},
    {oracle::Fault::state_not_written, "state not written", "o is right and no state was written"},
    {oracle::Fault::state_rounded_early, "output of the rounded state",
     "o was read from the state rounded to bf16, not from the state before that"},
    {oracle::Fault::state_never_rounded, "state not rounded between steps",
     "the state was rounded to bf16 after the last step alone"},
    {oracle::Fault::last_slice_dropped, "last slice dropped",
     "the last of the four partial sums over K is missing"},
    {oracle::Fault::not_fused, "not fused", "multiply-adds were rounded twice, product and sum"},
    {oracle::Fault::first_step_only, "first step alone",
     "the state is that after the first step, and o of later steps holds what was there before"},
};
static_assert(std::size(named_faults) == oracle::fault_count);

/// What the fault gives, as acceptances of single codes; nothing where it has no meaning.
std::vector<arithmetic::Acceptance> acceptance_of(const NamedFault& named, const Point& point,
                                                  const oracle::Operands& operands, const Contents& before) {
  oracle::Contracts contracts = point.contracts;
  contracts.judge = oracle::Judge::bits;
  const oracle::Shape shape = shape_of(point);
  oracle::Faulty faulty = oracle::faulty(named.fault, contracts, shape, operands);
  if (faulty.out.empty()) return {};
  if (named.fault ==
      oracle::Fault::first_step_only) {  // what later steps left of o is not the oracle's to say
    const std::size_t step = faulty.out.size() / shape.tokens();
    for (std::size_t token = 0; token < shape.tokens(); ++token) {
      if (token % shape.steps == 0) continue;
      const auto at = static_cast<std::ptrdiff_t>(token * step);
      std::copy_n(before[0].begin() + at, step, faulty.out.begin() + at);
    }
  }
  std::vector<arithmetic::Acceptance> both(2);
  both[0].format = contracts.io;
  both[0].lo = std::move(faulty.out);
  both[1].format = contracts.state;
  both[1].lo = std::move(faulty.state);
  return both;
}

/// Where an element of o or of the state belongs.
struct Element {
  bool state = false;
  std::size_t sequence = 0, step = 0;  ///< of o
  std::size_t slot = 0, key = 0;       ///< of the state
  std::size_t head = 0, value = 0;
};

/// The elements of o and of the state, right and wrong.
class Elements {
 public:
  Elements(const Point& point, const std::vector<arithmetic::Acceptance>& right, const Contents& actual,
           const Contents& before)
      : shape_(shape_of(point)), kv_(point.contracts.layout == oracle::Layout::kv) {
    for (std::size_t i = 0; i < right.size(); ++i) {
      wrong_[i].resize(right[i].size());
      for (const std::size_t element : mismatching(right[i], actual[i], before[i])) wrong_[i][element] = true;
      any_[i] = std::count(wrong_[i].begin(), wrong_[i].end(), true) > 0;
    }
  }

  const oracle::Shape& shape() const { return shape_; }
  bool any_wrong_in_o() const { return any_[0]; }
  bool any_wrong_in_state() const { return any_[1]; }

  /// Marks which of `count` groups hold a wrong element; elements that `group` gives no number count nowhere.
  template <class Group>
  std::vector<bool> groups(std::size_t count, const Group& group) const {
    std::vector<bool> hit(count);
    for (const bool state : {false, true}) {
      const std::vector<bool>& wrong = wrong_[state ? 1 : 0];
      for (std::size_t i = 0; i < wrong.size(); ++i) {
        if (!wrong[i]) continue;
        const std::size_t at = group(state ? in_state(i) : in_o(i));
        if (at < count) hit[at] = true;
      }
    }
    return hit;
  }

 private:
  Element in_o(std::size_t i) const {
    Element element;
    element.value = i % shape_.value_dim;
    element.head = i / shape_.value_dim % shape_.value_heads;
    const std::size_t token = i / shape_.value_dim / shape_.value_heads;
    element.sequence = token / shape_.steps;
    element.step = token % shape_.steps;
    return element;
  }
  Element in_state(std::size_t i) const {
    Element element;
    element.state = true;
    const std::size_t inner = kv_ ? shape_.value_dim : shape_.key_dim;
    const std::size_t matrix = shape_.value_dim * shape_.key_dim;
    const std::size_t fast = i % inner, slow = i % matrix / inner;
    element.value = kv_ ? fast : slow;
    element.key = kv_ ? slow : fast;
    element.head = i / matrix % shape_.value_heads;
    element.slot = i / matrix / shape_.value_heads;
    return element;
  }

  oracle::Shape shape_;
  bool kv_;
  std::vector<bool> wrong_[2];
  bool any_[2] = {false, false};
};

std::size_t count_of(const std::vector<bool>& hit) {
  return static_cast<std::size_t>(std::count(hit.begin(), hit.end(), true));
}

/// Some but not all heads, or columns of V, hold every wrong element.
void add_confined(const Elements& elements, std::vector<Diagnosis>& found) {
  const oracle::Shape& shape = elements.shape();
  const auto heads = elements.groups(shape.value_heads, [](const Element& e) { return e.head; });
  if (count_of(heads) < shape.value_heads)
    found.push_back({"some value heads wrong", fmt::format("{} of {} value heads hold all that is wrong",
                                                           count_of(heads), shape.value_heads)});
  const auto columns = elements.groups(shape.value_dim, [](const Element& e) { return e.value; });
  if (count_of(columns) < shape.value_dim)
    found.push_back({"some columns of V wrong", fmt::format("{} of {} columns of V hold all that is wrong",
                                                            count_of(columns), shape.value_dim)});
  if (elements.any_wrong_in_o()) return;
  const auto rows = elements.groups(shape.key_dim, [](const Element& e) { return e.key; });
  if (count_of(rows) < shape.key_dim)
    found.push_back({"some rows of K wrong", fmt::format("{} of {} rows of K hold all that is wrong",
                                                         count_of(rows), shape.key_dim)});
}

std::vector<Diagnosis> structural(const Elements& elements) {
  const oracle::Shape& shape = elements.shape();
  std::vector<Diagnosis> found;
  if (!elements.any_wrong_in_state()) {
    found.push_back({"output alone wrong", "every state is right, so what o is read by is wrong"});
  } else if (!elements.any_wrong_in_o()) {
    found.push_back({"state alone wrong", "o is right, so what the state is written by is wrong"});
  }
  const auto steps =
      elements.groups(shape.steps, [&](const Element& e) { return e.state ? shape.steps : e.step; });
  if (shape.steps > 1 && elements.any_wrong_in_o() && !steps[0])
    found.push_back({"first step right", "o of the first step is right, o of some later step is not"});
  add_confined(elements, found);
  return found;
}

}  // namespace

std::vector<Diagnosis> diagnose(const Point& point, const oracle::Operands& operands,
                                const std::vector<arithmetic::Acceptance>& right, const Contents& actual,
                                const Contents& before) {
  const auto passes = [&](const std::vector<arithmetic::Acceptance>& both) {
    return compare(both[0], actual[0], before[0], 0).failed == 0 &&
           compare(both[1], actual[1], before[1], 0).failed == 0;
  };
  std::vector<Diagnosis> found;
  if (passes(right)) return found;
  for (const NamedFault& named : named_faults) {
    const auto faulty = acceptance_of(named, point, operands, before);
    if (!faulty.empty() && passes(faulty))
      found.push_back({std::string(named.pattern), std::string(named.detail)});
  }
  if (!found.empty()) return found;
  return structural(Elements(point, right, actual, before));
}

}  // namespace assay::properties::gated_delta
