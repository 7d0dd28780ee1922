#include "properties/repro/shrink.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "fixtures/tensor/errors.hpp"
#include "fixtures/tensor/sha256.hpp"
#include "properties/repro/simpler.hpp"

namespace assay::properties::repro {
namespace {

using arithmetic::load_code;
using arithmetic::store_code;

/// Elements in all judgements together: what a step costs is decided by them, and time decides nothing.
constexpr std::uint64_t most_elements = std::uint64_t{1} << 30;
/// Cases of which it is remembered that they were judged; larger ones are not worth a digest.
constexpr std::size_t remembered_bytes = std::size_t{1} << 20;

std::size_t width_of(const GivenBuffer& buffer) {
  return static_cast<std::size_t>(formats::storage_bytes(buffer.format));
}

/// A case with its contents. `buffers` view the workload.
struct Case {
  std::unique_ptr<Workload> owned;
  Workload* workload = nullptr;
  std::string token;
  std::vector<GivenBuffer> buffers;
  std::vector<Element> wrong;
};

std::size_t elements_of(const std::vector<GivenBuffer>& buffers) {
  std::size_t elements = 0;
  for (const GivenBuffer& buffer : buffers) {
    if (!buffer.structural) elements += buffer.bytes.size() / width_of(buffer);
  }
  return elements;
}

class Shrinker {
 public:
  Shrinker(const Family& family, Workload& workload, std::size_t route, kernels::Device& device,
           const FailureClass& failure, std::vector<Element> wrong, const ShrinkOptions& options)
      : family_(family), same_(family, route, device, failure), options_(options) {
    current_.workload = &workload;
    current_.token = parse_case(workload.token()).token;
    current_.buffers = given(workload);
    current_.wrong = std::move(wrong);
  }

  void run() {
    for (bool changed = true; changed && !spent();) {
      changed = smaller_shape();
      changed = fewer_elements() || changed;
      changed = simpler_values() || changed;
    }
  }

  Shrunk result(std::size_t before) const {
    Shrunk shrunk;
    shrunk.token = current_.token;
    shrunk.contents = contents_of(current_.buffers);
    shrunk.text = text_of(family_, shrunk.token, shrunk.contents);
    shrunk.judgements = same_.judgements();
    shrunk.elements_before = before;
    shrunk.elements = elements_of(current_.buffers);
    shrunk.nonzero = nonzero().size();
    shrunk.finished = !spent();
    return shrunk;
  }

 private:
  bool spent() const {
    return same_.judgements() >= options_.most_judgements || judged_elements_ >= most_elements;
  }

  bool judge(Workload& workload, const char* what, std::vector<Element>* wrong) {
    const std::size_t elements = elements_of(given(workload));
    judged_elements_ += elements;
    if (options_.progress) options_.progress(what, elements);
    return same_.of(workload, wrong);
  }

  /// Takes the case in place of the current one when it fails in the same way.
  bool take(const std::string& token, Contents contents, const char* what) {
    if (spent() || known(token, contents)) return false;
    Case next;
    try {
      next.owned = family_.with_contents(token, std::move(contents));
    } catch (const BadInput&) {
      return false;  // contents that no case can have
    }
    if (!judge(*next.owned, what, &next.wrong)) return false;
    next.workload = next.owned.get();
    next.token = token;
    next.buffers = given(*next.workload);
    current_ = std::move(next);
    return true;
  }

  /// Whether a small case was judged before; later ones are known then.
  bool known(const std::string& token, const Contents& contents) {
    std::size_t bytes = 0;
    for (const auto& buffer : contents) bytes += buffer.size();
    if (bytes > remembered_bytes) return false;
    Sha256 digest;
    digest.update(token);
    for (const auto& buffer : contents) digest.update(buffer);
    return !judged_.insert(digest.hex()).second;
  }

  /// Where to look for a smaller case: the wrong elements; without any, both ends of every output.
  std::vector<Element> places() const {
    if (!current_.wrong.empty()) return current_.wrong;
    std::vector<Element> ends;
    const auto outputs = current_.workload->outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      ends.push_back({i, 0});
      if (outputs[i].elements > 1) ends.push_back({i, outputs[i].elements - 1});
    }
    return ends;
  }

  bool smaller_shape_at(const Element& place) {
    for (const Reduction& reduction : current_.workload->reductions(place.output, place.index)) {
      if (spent()) return false;
      if (take(reduction.token, reduction.given(), "shape")) return true;
    }
    return false;
  }

  bool smaller_shape() {
    bool changed = false;
    for (bool again = true; again && !spent();) {
      again = false;
      for (const Element& place : places()) {
        if (!smaller_shape_at(place)) continue;
        again = changed = true;
        break;  // the case is another, and so are its places
      }
    }
    return changed;
  }

  /// Elements of the buffers that may be zeroed and are not zero.
  std::vector<Element> nonzero() const {
    std::vector<Element> found;
    for (std::size_t i = 0; i < current_.buffers.size(); ++i) {
      const GivenBuffer& buffer = current_.buffers[i];
      const std::size_t width = width_of(buffer);
      for (std::size_t at = 0; !buffer.structural && at < buffer.bytes.size() / width; ++at) {
        if (load_code(buffer.bytes, static_cast<int>(width), at) != 0) found.push_back({i, at});
      }
    }
    return found;
  }

  bool take_changed(std::span<const Element> elements, const char* what,
                    const std::function<std::uint32_t(const Element&, std::uint32_t)>& changed) {
    Contents contents = contents_of(current_.buffers);
    for (const Element& element : elements) {
      const auto width = static_cast<int>(width_of(current_.buffers[element.output]));
      auto& bytes = contents[element.output];
      store_code(bytes, width, element.index, changed(element, load_code(bytes, width, element.index)));
    }
    return take(current_.token, std::move(contents), what);
  }

  bool zeroed(std::span<const Element> elements) {
    return take_changed(elements, "elements", [](const Element&, std::uint32_t) { return 0u; });
  }

  /// Delta debugging (ddmin), of which only the removals are tried: halves, quarters, ... single elements,
  /// these until none can be removed.
  bool fewer_elements() {
    bool changed = false;
    for (std::size_t i = 0; i < current_.buffers.size(); ++i) {
      std::vector<Element> whole = nonzero();
      std::erase_if(whole, [&](const Element& element) { return element.output != i; });
      if (!whole.empty()) changed = zeroed(whole) || changed;
    }
    std::vector<Element> left = nonzero();
    for (std::size_t chunk = std::max<std::size_t>(left.size() / 2, 1); !left.empty() && !spent();) {
      bool removed = false;
      for (std::size_t at = 0; at < left.size() && !spent();) {
        const auto first = left.begin() + static_cast<std::ptrdiff_t>(at);
        const auto end = left.begin() + static_cast<std::ptrdiff_t>(std::min(at + chunk, left.size()));
        if (zeroed({first, end})) {
          left.erase(first, end);
          removed = changed = true;
        } else {
          at += chunk;
        }
      }
      if (chunk == 1 && !removed) break;
      chunk = std::max<std::size_t>(chunk / 2, 1);
    }
    return changed;
  }

  /// Tries a simplification on all the elements at once, and on halves where that is another failure. Removes
  /// those from `left` on which it was made.
  bool simplify(std::span<const Element> elements, std::size_t how, std::vector<Element>& left) {
    if (elements.empty() || spent()) {
      left.insert(left.end(), elements.begin(), elements.end());
      return false;
    }
    const bool taken = take_changed(elements, "values", [&](const Element& element, std::uint32_t code) {
      return simplified(current_.buffers[element.output].format, code, how).value_or(code);
    });
    if (taken) return true;
    if (elements.size() == 1) {
      left.push_back(elements.front());
      return false;
    }
    const std::size_t half = elements.size() / 2;
    const bool first = simplify(elements.first(half), how, left);
    return simplify(elements.subspan(half), how, left) || first;
  }

  bool simpler_values() {
    bool changed = false;
    std::vector<Element> left = nonzero();
    for (std::size_t how = 0; how < simplifications && !spent(); ++how) {
      std::vector<Element> able, kept;
      for (const Element& element : left) {
        const GivenBuffer& buffer = current_.buffers[element.output];
        const std::uint32_t code = load_code(buffer.bytes, static_cast<int>(width_of(buffer)), element.index);
        // What is 1 already is as simple as can be.
        if (how > 0 && !simplified(buffer.format, code, 0)) continue;
        (simplified(buffer.format, code, how) ? able : kept).push_back(element);
      }
      changed = simplify(able, how, kept) || changed;
      left = std::move(kept);
    }
    return changed;
  }

  const Family& family_;
  SameFailure same_;
  const ShrinkOptions& options_;
  Case current_;
  std::uint64_t judged_elements_ = 0;
  std::set<std::string> judged_;
};

}  // namespace

Shrunk shrink(const Family& family, Workload& workload, std::size_t route, kernels::Device& device,
              const FailureClass& failure, std::vector<Element> wrong, const ShrinkOptions& options) {
  const std::size_t before = elements_of(given(workload));
  Shrinker shrinker(family, workload, route, device, failure, std::move(wrong), options);
  shrinker.run();
  Shrunk shrunk = shrinker.result(before);
  shrunk.text.route = family.routes()[route].name;
  shrunk.text.device = to_string(device.kind());
  return shrunk;
}

}  // namespace assay::properties::repro
