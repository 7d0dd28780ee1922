// What the gate needs to know of an operator family. A family implements this in properties/<family>/ and
// registers itself; nothing else is edited.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
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
};

/// A buffer the kernel writes: `rows` rows of `stride` stored elements of which the first `cols` are data.
struct OutputBuffer {
  std::string name;
  formats::Format format{};
  std::size_t elements = 0;  ///< stored, padding included
  std::size_t alignment = 16;
  std::size_t rows = 0, cols = 0, stride = 0;
  std::size_t elements_per_block = 1;  ///< data elements that share one scale, for naming places
};

/// The contents of all outputs, in the order of Workload::outputs().
using Contents = std::vector<std::vector<std::byte>>;

/// A named explanation of damage: the known fault whose output this is.
struct Diagnosis {
  std::string pattern;  ///< e.g. "truncation", "scale off by one"; listed by `assay explain`
  std::string detail;   ///< one sentence
};

/// One case with its inputs built. Deterministic: the token alone decides every bit.
class Workload {
 public:
  virtual ~Workload() = default;
  virtual std::string token() const = 0;
  virtual std::vector<InputBuffer> inputs() const = 0;
  virtual std::vector<OutputBuffer> outputs() const = 0;
  /// Computed on first use by the oracle; the same for every route and device.
  virtual const std::vector<arithmetic::Acceptance>& acceptance() = 0;
  /// Whether route `route` of that device takes this case.
  virtual kernels::Support supports(std::size_t route, kernels::DeviceKind) const = 0;
  /// Runs it on device pointers in the order of inputs() and outputs().
  virtual void launch(std::size_t route, kernels::LaunchContext&, std::span<void* const> inputs,
                      std::span<void* const> outputs) const = 0;
  /// Names the damage of a failing output; empty when no known fault explains it.
  virtual std::vector<Diagnosis> diagnose(const Contents& actual, const Contents& before) = 0;
};

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

/// Something that must hold, one sentence and then code.
struct Property {
  std::string name;
  std::string sentence;
  /// Returns an empty string when it held, else the token (or tokens) of the smallest counter-example.
  std::function<std::string(Bench&)> check;
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
  /// Committed files of real data that every gate also runs on: names under fixtures/<family>/. A missing one
  /// is an error.
  virtual std::vector<std::string> real_inputs() const = 0;
  /// Cases over a tensor from a file (`--on`). Throws BadInput naming tensor and reason (dtype, shape).
  virtual std::vector<std::unique_ptr<Workload>> on_tensor(const fixtures::Tensor&,
                                                           const std::filesystem::path& file,
                                                           Level) const = 0;
  virtual std::vector<Property> properties() const = 0;
  /// The cases whose outputs are kept as goldens: record name (file stem) -> tokens.
  virtual std::map<std::string, std::vector<std::string>> golden_cases() const = 0;
  /// Combinations a route is known not to take: "route: reason". An unsupported verdict outside this list is
  /// a fail.
  virtual std::vector<std::string> known_unsupported() const = 0;
};

/// Families in name order.
const std::vector<const Family*>& families();
struct Register {
  explicit Register(const Family*);
};

}  // namespace assay::properties
