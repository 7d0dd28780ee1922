// What tensors can be of decode steps of the gated delta rule: types and extents say the formats, which
// tensors are there says the gates; norms, epsilon and roundings are open.
#include "properties/gated_delta/readings.hpp"

#include <fmt/core.h>

#include "fixtures/files/messages.hpp"
#include "fixtures/tensor/errors.hpp"
#include "properties/exchange/readings.hpp"
#include "properties/gated_delta/point.hpp"

namespace assay::properties::gated_delta {
namespace {

using formats::Format;

const OfferedTensor& of_rank_4(const Offer& offer, const char* name, const char* dimensions) {
  const OfferedTensor& tensor = offer.need(name);
  if (tensor.shape.size() != 4)
    refuse(tensor,
           fmt::format("its shape is {}; it has to be {}", fixtures::shape_text(tensor.shape), dimensions));
  if (fixtures::element_count(tensor.shape).value_or(0) == 0) refuse(tensor, "it has no elements");
  return tensor;
}

/// Elements from a token to the next of gates [batch, steps, stride].
std::size_t stride_of(const Offer& offer, const char* name, std::size_t tokens, std::size_t heads) {
  const OfferedTensor& tensor = offer.need(name);
  const std::size_t elements = fixtures::element_count(tensor.shape).value_or(0);
  if (elements % tokens != 0 || elements / tokens < heads || tensor.shape.back() != elements / tokens)
    refuse(tensor, fmt::format("its shape is {}; it has to be [batch, steps, {} or wider]",
                               fixtures::shape_text(tensor.shape), heads));
  return elements / tokens;
}

struct Extents {
  std::size_t batch = 0, steps = 0, heads = 0, key_dim = 0, value_heads = 0, value_dim = 0;
};

/// Raw where any tensor of raw gates is there, with their strides.
std::vector<std::string> gates(const Offer& offer, const Extents& extents) {
  bool raw = false;
  for (const char* name : {"a", "b", "a_log", "dt_bias"}) raw = raw || offer.find(name) != nullptr;
  const std::size_t tokens = extents.batch * extents.steps, heads = extents.value_heads;
  if (!raw) {
    for (const char* name : {"g", "beta"}) {
      (void)offer.need(name);
      check_shape(offer, name, {extents.batch, extents.steps, heads});
    }
    (void)formats_of(offer, {"g", "beta"}, {Format::fp32});
    return {"gates=precomputed"};
  }
  for (const char* name : {"g", "beta"}) {
    if (const OfferedTensor* other = offer.find(name))
      refuse(*other, "it is of precomputed gates, beside 'a', 'b', 'a_log' or 'dt_bias' of raw ones");
  }
  for (const char* name : {"a_log", "dt_bias"}) {
    (void)offer.need(name);
    check_shape(offer, name, {heads});
  }
  (void)formats_of(offer, {"a_log", "dt_bias"}, {Format::fp32});
  const std::size_t a = stride_of(offer, "a", tokens, heads), b = stride_of(offer, "b", tokens, heads);
  std::vector<std::string> found;
  for (const char* softplus : {"once", "log1p", "log"})
    found.push_back(fmt::format("gates=raw,softplus={},astride={},bstride={}", softplus, a, b));
  return found;
}

/// "layout=kv,pool=4" for every layout that the state's shape [pool, heads, K, V] or [pool, heads, V, K] can
/// be.
std::vector<std::string> layouts(const Offer& offer, const Extents& extents) {
  const OfferedTensor& state = of_rank_4(offer, "state before", "[pool, heads, K, V] or [pool, heads, V, K]");
  if (const OfferedTensor* after = offer.find("state"); after != nullptr && after->shape != state.shape)
    refuse(*after, fmt::format("its shape is {}, that of 'state before' is {}",
                               fixtures::shape_text(after->shape), fixtures::shape_text(state.shape)));
  const std::vector<std::size_t> kv = {state.shape[0], extents.value_heads, extents.key_dim,
                                       extents.value_dim};
  const std::vector<std::size_t> vk = {state.shape[0], extents.value_heads, extents.value_dim,
                                       extents.key_dim};
  std::vector<std::string> found;
  for (const auto& [name, shape] : {std::pair("kv", kv), {"vk", vk}})
    if (state.shape == shape) found.push_back(fmt::format("layout={},pool={}", name, state.shape[0]));
  if (found.empty())
    refuse(state,
           fmt::format("its shape is {}; by q and v it has to be [pool, {}, {}, {}] or [pool, {}, {}, {}]",
                       fixtures::shape_text(state.shape), kv[1], kv[2], kv[3], vk[1], vk[2], vk[3]));
  if (state.shape[0] < extents.batch)
    refuse(state,
           fmt::format("its pool of {} has no slot for each of {} sequences", state.shape[0], extents.batch));
  return found;
}

Extents extents_of(const Offer& offer) {
  const OfferedTensor& q = of_rank_4(offer, "q", "[batch, steps, heads, K]");
  const OfferedTensor& v = of_rank_4(offer, "v", "[batch, steps, value heads, V]");
  if (v.shape[0] != q.shape[0] || v.shape[1] != q.shape[1])
    refuse(v, fmt::format("its shape is {}, which is not of as many sequences and steps as 'q' {}",
                          fixtures::shape_text(v.shape), fixtures::shape_text(q.shape)));
  (void)offer.need("k");
  check_shape(offer, "k", q.shape);
  check_shape(offer, "o", v.shape);
  check_shape(offer, "slots", {q.shape[0]});
  if (const OfferedTensor* slots = offer.find("slots"))
    if (slots->dtype != fixtures::DType::i32)
      refuse(*slots, fmt::format("its dtype is {}; slots are i32", to_string(slots->dtype)));
  if (v.shape[2] % q.shape[2] != 0)
    refuse(v, fmt::format("its {} heads are not divisible by the {} of 'q'", v.shape[2], q.shape[2]));
  if (q.shape[3] % 4 != 0) refuse(q, fmt::format("its K={} is not divisible by 4", q.shape[3]));
  return {q.shape[0], q.shape[1], q.shape[2], q.shape[3], v.shape[2], v.shape[3]};
}

/// The token, which says every contract, defaults too; parse has nothing against it.
std::string checked(std::string token) {
  (void)parse(token);
  return token;
}

}  // namespace

std::vector<std::string> readings(std::span<const OfferedTensor> tensors, std::string_view fixed) {
  const Offer offer(
      "gated_delta", tensors,
      {"q", "k", "v", "a", "b", "a_log", "dt_bias", "g", "beta", "slots", "state before", "o", "state"});
  const Extents extents = extents_of(offer);
  const std::string scale = value_of(fixed, "scale").value_or("auto");
  const auto all = combinations(
      {parts("io", formats_of(offer, {"q", "k", "v", "a", "b", "o"}, {Format::bf16, Format::fp32})),
       parts("state", formats_of(offer, {"state before", "state"}, {Format::bf16, Format::fp32})),
       layouts(offer, extents), gates(offer, extents), parts("norm", {"division", "rsqrt"}),
       parts("eps", {"1e-6", "1e-12"}), parts("beta", {"fp32", "bf16"}), parts("judge", {"bits", "bound"}),
       parts("scale", {scale})});
  std::vector<std::string> tokens;
  for (const std::string& one :
       agreeing(all, fixed,
                {"io", "state", "layout", "gates", "norm", "eps", "softplus", "beta", "judge", "scale"}))
    tokens.push_back(checked(fmt::format("gated_delta:{},batch={},steps={},h={},hv={},k={},v={}", one,
                                         extents.batch, extents.steps, extents.heads, extents.value_heads,
                                         extents.key_dim, extents.value_dim)));
  return tokens;
}

std::string tells_apart(std::string_view key) {
  if (key == "layout") return "K and V that differ, or a state that is not symmetric";
  if (key == "norm") return "q and k whose sums of squares are no powers of four";
  if (key == "eps") return "q or k so small that their sums of squares are near 1e-6 or below";
  if (key == "softplus") return "gates a + dt_bias of many sizes, some above 20";
  if (key == "beta") return "strengths that bf16 rounds, and v far from what the state recalls";
  if (key == "gates") return "gates of one kind";
  if (key == "scale") return "q that is not zero";
  if (key == "io" || key == "state") return "tensors in a type of their own (BF16, F32)";
  return {};
}

}  // namespace assay::properties::gated_delta
