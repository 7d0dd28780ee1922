// What the gate needs to know of an operator family. A family implements this in properties/<family>/ and
// registers itself; nothing else is edited.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fixtures/tensor/tensor.hpp"
#include "kernels/runtime/route.hpp"
#include "oracles/arithmetic/acceptance.hpp"

namespace assay::properties {

enum class Level : std::uint8_t { quick, full, exhaustive };

/// A buffer the kernel reads. The gate uploads it between guard zones and checks that it was not modified.
struct InputBuffer {
  std::string name;
  formats::Format format{};
  std::span<const std::byte> bytes;
  std::size_t alignment = 16;
  /// It says where elements of other buffers lie (slots): zeroing a case's contents, or making them smaller,
  /// leaves it alone.
  bool structural = false;
  /// As frameworks see it, row-major, its product the stored elements, padding included: how it stands in
  /// files. Empty: one dimension.
  std::vector<std::size_t> shape = {};
  /// Of an element in files, where the format does not say it (slots).
  std::optional<fixtures::DType> dtype = {};
};

/// A buffer the kernel writes: `rows` rows of `stride` stored elements of which the first `cols` are data.
struct OutputBuffer {
  std::string name;
  formats::Format format{};
  std::size_t elements = 0;  ///< stored, padding included
  std::size_t alignment = 16;
  std::size_t rows = 0, cols = 0, stride = 0;
  std::size_t elements_per_block = 1;  ///< data elements that share one scale, for naming places
  bool blocks_in_columns = false;      ///< they lie below each other, not side by side
  /// Of a permuted buffer (swizzled scales): row and column of the matrix that it holds, by stored element;
  /// nothing for padding. Its rows and stride are then of the storage alone.
  std::function<std::optional<std::pair<std::size_t, std::size_t>>(std::size_t)> place = {};
  /// Of a buffer that the kernel reads and writes in place: what it holds before every run, all of it, in
  /// place of poison; a view of the workload. Empty: the kernel only writes.
  std::span<const std::byte> initial = {};
  std::vector<std::size_t> shape = {};  ///< as in InputBuffer
};

/// Memory the kernel works in: neither read nor judged. The gate poisons it before every run, so that a
/// result made of what nobody wrote moves, and puts guard zones around it.
struct ScratchBuffer {
  std::string name;
  std::size_t bytes = 0;
  std::size_t alignment = 256;
};

/// The contents of all outputs, in the order of Workload::outputs(); or of all that a case begins with, in
/// the order of given().
using Contents = std::vector<std::vector<std::byte>>;

/// A named explanation of damage: the known fault whose output this is.
struct Diagnosis {
  std::string pattern;  ///< e.g. "truncation", "scale off by one"; listed by `assay explain`
  std::string detail;   ///< one sentence
};

/// A smaller case cut out of another, which must outlive it.
struct Reduction {
  std::string token;  ///< shape and contracts; what a source would give does not matter
  /// Contents in the order of given(): those of the larger case at the places that are left.
  std::function<Contents()> given;
  std::size_t element = 0;  ///< where the element that was to be kept is in the same output
};

/// What the witness of a run has to show.
struct ExpectedWitness {
  std::vector<std::string> launches;              ///< exactly these, in this order
  std::map<std::string, std::uint64_t> counters;  ///< exactly these, those of the executor aside
};

/// One case with its inputs built. Deterministic: the token alone decides every bit.
class Workload {
 public:
  virtual ~Workload() = default;
  virtual std::string token() const = 0;
  virtual std::vector<InputBuffer> inputs() const = 0;
  virtual std::vector<OutputBuffer> outputs() const = 0;
  virtual std::vector<ScratchBuffer> scratch() const { return {}; }
  /// Computed on first use by the oracle; the same for every route and device.
  virtual const std::vector<arithmetic::Acceptance>& acceptance() = 0;
  /// Whether route `route` of that device takes this case: what the route itself says.
  virtual kernels::Support supports(std::size_t route, kernels::DeviceKind) const = 0;
  /// What it has to say: the family's own rule, decided without asking any kernel. A route that refuses more,
  /// accepts more or gives another reason fails.
  virtual kernels::Support expected_support(std::size_t route, kernels::DeviceKind) const = 0;
  /// What a run of the route has to show, decided without asking any kernel: a route that falls back to
  /// another's kernels, or whose dispatch decides otherwise, fails.
  virtual ExpectedWitness expected_witness(std::size_t route) const = 0;
  /// Runs it on device pointers in the order of inputs(), and of outputs() followed by scratch().
  virtual void launch(std::size_t route, kernels::LaunchContext&, std::span<void* const> inputs,
                      std::span<void* const> outputs) const = 0;
  /// Names the damage of a failing output; empty when no known fault explains it.
  virtual std::vector<Diagnosis> diagnose(const Contents& actual, const Contents& before) = 0;
  /// Smaller cases that hold what element `element` of output `output` is made of, the smallest first: the
  /// one block (row, head, sequence) that it is in, then larger parts. Behind them, where only part of what
  /// an element is made of can be cut off (a sum), cases whose element is another; and the same case without
  /// one of the things that are special about its buffers (offset, alignment, padding). A right case has
  /// right reductions. Empty when nothing is left to cut.
  virtual std::vector<Reduction> reductions(std::size_t output, std::size_t element) const = 0;
};

/// A buffer that a case begins with: an input, or "NAME before" of an output that is updated in place.
struct GivenBuffer {
  std::string name;
  formats::Format format{};
  std::span<const std::byte> bytes;  ///< a view of the workload
  bool structural = false;           ///< as in InputBuffer, like the next two
  std::vector<std::size_t> shape = {};
  std::optional<fixtures::DType> dtype = {};
};
/// All of them: inputs(), and behind them what buffers hold that are updated in place.
std::vector<GivenBuffer> given(const Workload&);
/// Copies of them.
Contents contents_of(const std::vector<GivenBuffer>&);

/// What a property may do with a workload. Everything it runs is counted in the gate's table.
class Bench {
 public:
  virtual ~Bench() = default;
  /// Judges the workload on every selected route and device; true when all is right.
  virtual bool judge(Workload&) = 0;
  /// As judge, and hands every route's outputs to `use` (route index, contents) for relations between cases.
  virtual bool judge(Workload&, const std::function<void(std::size_t, const Contents&)>& use) = 0;
  virtual std::uint64_t seed() const = 0;
  virtual int tries() const = 0;  ///< how many random cases a property should draw
};

/// What a property returns that compared nothing; no token reads like it.
inline constexpr std::string_view compared_nothing = "vacuous";

/// Something that must hold, one sentence and then code.
struct Property {
  std::string name;
  std::string sentence;
  /// Returns an empty string when it held, else the token (or tokens) of the smallest counter-example, or
  /// `compared_nothing` when nothing contradicted it because nothing was compared: then it did not hold.
  std::function<std::string(Bench&)> check;
};

struct RequiredRoute {
  std::string name;
  std::vector<std::string> kernels;
};

/// One line of `assay bench`: routes of the same case, timed side by side on a GPU.
struct Benchmark {
  std::string name;                 ///< "rowwise, bf16 to e4m3, 1024 x 1024"
  std::string token;                ///< of the case that is timed; its contents do not matter much
  std::vector<std::string> routes;  ///< the first is compared with each of the others
  std::uint64_t bytes_read = 0, bytes_written = 0;  ///< each input byte once, each output byte once
};

/// A tensor that somebody else offers for judging, named after a buffer.
struct OfferedTensor {
  std::string name;
  fixtures::DType dtype{};
  std::vector<std::size_t> shape;
};

class Family {
 public:
  virtual ~Family() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;
  virtual std::vector<kernels::RouteInfo> routes() const = 0;
  /// Tokens of the fixed cases of a level, smallest first.
  virtual std::vector<std::string> cases(Level, std::uint64_t seed) const = 0;
  /// Throws BadInput naming the token and what is wrong with it.
  virtual std::unique_ptr<Workload> materialise(std::string_view token) const = 0;
  /// The case of that shape and those contracts with zeros in every buffer it begins with but the structural
  /// ones. No generator runs and no file is read. Throws as materialise.
  virtual std::unique_ptr<Workload> blank(std::string_view token) const = 0;
  /// The same with these contents: those of given(), in its order, as many bytes as blank() has (programmer
  /// error otherwise). Throws BadInput naming buffer and element for contents that no case can have, such as
  /// two sequences in one slot.
  virtual std::unique_ptr<Workload> with_contents(std::string_view token, Contents) const = 0;
  /// Tokens of the cases that tensors of these names (of given() and outputs()), types and shapes can be: one
  /// for every choice of contracts that `fixed` ("key=value,key=value") and the tensors leave open, each with
  /// all its contracts in it, in an order that depends on nothing else. Where results can be held to bits or
  /// to bounds, both (judge=). Throws BadInput naming the tensor, or the key of `fixed`, and the reason: a
  /// name that no buffer has, a type or shape that fits no case, an input that is missing.
  virtual std::vector<std::string> readings(std::span<const OfferedTensor>, std::string_view fixed) const = 0;
  /// Which inputs show what a contract key of readings() says, in words. Empty: it is no contract.
  virtual std::string tells_apart(std::string_view key) const = 0;
  /// Committed files of real data that every gate also runs on: paths from fixtures/<family>/. A missing one
  /// is an error.
  virtual std::vector<std::string> real_inputs() const = 0;
  /// Cases over a tensor from a file (`--on`). Throws BadInput naming tensor and reason (dtype, shape).
  virtual std::vector<std::unique_ptr<Workload>> on_tensor(const fixtures::Tensor&,
                                                           const std::filesystem::path& file,
                                                           Level) const = 0;
  virtual std::vector<Property> properties() const = 0;
  /// The cases whose outputs are kept as goldens: record name (file stem) -> tokens.
  virtual std::map<std::string, std::vector<std::string>> golden_cases() const = 0;
  /// The routes that every device must offer with the kernels each must launch for one built-in case or
  /// another, stated here a second time so that a route cannot vanish, or redefine what it runs, by an edit
  /// on the kernels' side alone. Same order as routes().
  virtual std::vector<RequiredRoute> required_routes() const = 0;
  /// The routes of a device as the kernels list them.
  virtual std::vector<kernels::RouteInfo> routes_on(kernels::DeviceKind) const = 0;
  /// What `assay bench` times, in the order it is shown.
  virtual std::vector<Benchmark> benchmarks() const = 0;
  /// What expected_support refuses, in words for `assay list`.
  virtual std::vector<std::string> limits() const = 0;
};

/// Families in name order.
const std::vector<const Family*>& families();
struct Register {
  explicit Register(const Family*);
};

}  // namespace assay::properties
