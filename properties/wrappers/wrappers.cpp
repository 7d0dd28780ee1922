// The battery `wrappers`: what every kernel stands on.
//
// On cuda each PTX wrapper is compared with its host twin: every input where 16 or 32 bits are the whole
// domain (all 2^32 at level exhaustive, a spread of them below that), else every entry of its operand table.
// Where the host twin is slow, most outputs are compared with the twin run on the GPU.
// On cpu the wrapper is the twin, so comparing them would compare a thing with itself; there conversions,
// arithmetic and elementary functions are compared with the oracle's instead, and the other wrappers are left
// to the cuda device.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "fixtures/functions/worst_cases.hpp"
#include "kernels/device/mma_operands.hpp"
#include "kernels/device/quotient_operands.hpp"
#include "kernels/device/sum_operands.hpp"
#include "kernels/device/twin_probe.hpp"
#include "oracles/arithmetic/functions.hpp"
#include "oracles/arithmetic/modelled.hpp"
#include "oracles/formats/codec.hpp"
#include "oracles/matmul_nbits/tensor_core.hpp"
#include "properties/gate/battery.hpp"
#include "properties/gate/describe.hpp"
#include "properties/gate/progress.hpp"

namespace assay::properties {
namespace {

using formats::Format;
using kernels::Device;
using kernels::DeviceKind;
using kernels::WrapperProbe;
using oracles::matmul_nbits::TensorCores;
using Reference = std::function<std::uint32_t(std::uint32_t)>;

std::uint32_t converted(Format from, Format to, std::uint32_t code, formats::Overflow overflow) {
  return formats::encode(to, formats::decode(from, code), formats::Rounding::nearest_even, overflow);
}

namespace operands = kernels::cpu::operands;

/// An operation of the oracle on both halves of packed operands.
template <Format F, class Operation, class... Words>
std::uint32_t halves(Operation operation, Words... words) {
  using M = arithmetic::Modelled<F>;
  return operation(M::of_code(words >> 16)...).code() << 16 |
         operation(M::of_code(words & 0xFFFFu)...).code();
}

/// The element of D that an output of the matrix probes is, by the oracle's tensor cores.
Reference matrix_of(TensorCores cores) {
  using oracles::matmul_nbits::TensorOperand;
  return [steps = oracles::matmul_nbits::tensor_steps(cores)](std::uint32_t x) {
    constexpr std::uint32_t cols = kernels::cpu::twin::mma_cols, depth = kernels::cpu::twin::mma_depth;
    const operands::MmaTile tile{x / operands::tile_outputs};
    const std::uint32_t row = x % operands::tile_outputs / cols, col = x % cols;
    std::array<TensorOperand, depth> a, b;
    for (std::uint32_t k = 0; k < depth; ++k) {
      a[k] = TensorOperand::of_fp16(tile.a(row, k));
      b[k] = TensorOperand::of_fp16(tile.b(k, col));
    }
    auto sum = std::bit_cast<std::uint32_t>(tile.c(row, col));
    for (std::size_t k = 0; k < depth; k += steps.products) {
      sum = tensor_sum(std::span(a).subspan(k, steps.products), std::span(b).subspan(k, steps.products), sum,
                       steps.fractional_bits)
                .code;
    }
    return sum;
  };
}

/// Modelled arithmetic on the operands that the probe's table gives for an input.
std::optional<Reference> arithmetic_of(std::string_view name) {
  using F32 = arithmetic::Modelled<Format::fp32>;
  const auto add = [](auto a, auto b) { return a + b; };
  const auto subtract = [](auto a, auto b) { return a - b; };
  const auto multiply = [](auto a, auto b) { return a * b; };
  const auto multiply_add = [](auto a, auto b, auto c) { return fma(a, b, c); };
  if (name == "mul_rn_f32") {
    return [multiply](std::uint32_t x) {
      const auto p = operands::pair_f32(x);
      return multiply(F32::of_code(p.a), F32::of_code(p.b)).code();
    };
  }
  if (name == "add_rn_f32") {
    return [add](std::uint32_t x) {
      const auto p = operands::SumsF32::addends(x);
      return add(F32::of_code(p.a), F32::of_code(p.b)).code();
    };
  }
  if (name == "fma_rn_f32") {
    return [multiply_add](std::uint32_t x) {
      const auto t = operands::SumsF32::triple(x);
      return multiply_add(F32::of_code(t.a), F32::of_code(t.b), F32::of_code(t.c)).code();
    };
  }
  if (name == "div_rn_f32") {
    return [](std::uint32_t x) {
      const auto p = operands::dividend_and_divisor(x);
      return (F32::of_code(p.a) / F32::of_code(p.b)).code();
    };
  }
  if (name == "sqrt_rn_f32") return [](std::uint32_t x) { return sqrt(F32::of_code(x)).code(); };
  if (name == "mul_rn_bf16x2") {
    return [multiply](std::uint32_t x) {
      const auto p = operands::pair_16x2<7>(x);
      return halves<Format::bf16>(multiply, p.a, p.b);
    };
  }
  if (name == "mul_rn_f16x2") {
    return [multiply](std::uint32_t x) {
      const auto p = operands::pair_16x2<10>(x);
      return halves<Format::fp16>(multiply, p.a, p.b);
    };
  }
  if (name == "add_rn_f16x2" || name == "sub_rn_f16x2") {
    return [add, subtract, adds = name == "add_rn_f16x2"](std::uint32_t x) {
      const auto p = operands::addends_f16x2(x);
      return adds ? halves<Format::fp16>(add, p.a, p.b) : halves<Format::fp16>(subtract, p.a, p.b);
    };
  }
  if (name == "fma_rn_f16x2") {
    return [multiply_add](std::uint32_t x) {
      const auto t = operands::triple_f16x2(x);
      return halves<Format::fp16>(multiply_add, t.a, t.b, t.c);
    };
  }
  if (name == "mma_m16n8k16_f16<hopper>") return matrix_of(TensorCores::hopper);
  if (name == "mma_m16n8k16_f16<ampere>") return matrix_of(TensorCores::ampere);
  return std::nullopt;
}

/// The elementary function that a probe is: "exp_f32" is exp.
std::optional<arithmetic::Function> function_of(std::string_view name) {
  for (const arithmetic::Function function : arithmetic::functions())
    if (name == fmt::format("{}_f32", to_string(function))) return function;
  return std::nullopt;
}

/// The conversion by the oracle's codecs, for the wrappers that are conversions. The fp8 probes convert x to
/// the high code and -x to the low one; the packed 16-bit ones change the lowest bit, too.
std::optional<Reference> oracle_of(std::string_view name) {
  using formats::Overflow;
  const auto fp8 = [](Format to) {
    return [to](std::uint32_t x) {
      return converted(Format::fp32, to, x, Overflow::saturate) << 8 |
             converted(Format::fp32, to, x ^ 0x80000000u, Overflow::saturate);
    };
  };
  const auto plain = [](Format from, Format to) {
    return [from, to](std::uint32_t x) { return converted(from, to, x, Overflow::propagate); };
  };
  const auto packed = [](Format to) {
    return [to](std::uint32_t x) {
      return converted(Format::fp32, to, x, Overflow::propagate) << 16 |
             converted(Format::fp32, to, x ^ 0x80000001u, Overflow::propagate);
    };
  };
  if (name == "cvt_rn_satfinite_e4m3x2_f32") return fp8(Format::e4m3);
  if (name == "cvt_rn_satfinite_e5m2x2_f32") return fp8(Format::e5m2);
  if (name == "cvt_rn_f16_f32") return plain(Format::fp32, Format::fp16);
  if (name == "cvt_rn_bf16_f32") return plain(Format::fp32, Format::bf16);
  if (name == "cvt_rn_f16x2_f32") return packed(Format::fp16);
  if (name == "cvt_rn_bf16x2_f32") return packed(Format::bf16);
  if (name == "cvt_f32_f16") return plain(Format::fp16, Format::fp32);
  const auto pair = [](Format from) {
    return [from](std::uint32_t x) {
      return converted(from, Format::fp16, x >> 8, Overflow::propagate) << 16 |
             converted(from, Format::fp16, x & 0xFFu, Overflow::propagate);
    };
  };
  if (name == "cvt_rn_f16x2_e4m3x2") return pair(Format::e4m3);
  if (name == "cvt_rn_f16x2_e5m2x2") return pair(Format::e5m2);
  if (name == "cvt_f32_bf16") {
    // A shift: a NaN keeps sign and payload, so only numbers are the codec's.
    return [](std::uint32_t x) {
      return formats::is_nan(Format::bf16, x) ? x << 16
                                              : converted(Format::bf16, Format::fp32, x, Overflow::propagate);
    };
  }
  if (const auto function = function_of(name))
    return [function](std::uint32_t x) { return arithmetic::correctly_rounded(*function, x); };
  return arithmetic_of(name);
}

struct Range {
  std::uint64_t first = 0;
  std::uint32_t count = 0;
};

/// Ranges of `chunk` inputs, `budget` of them in all, spread evenly with the first and the last input among
/// them.
std::vector<Range> spread(std::uint64_t domain, std::uint64_t budget, std::uint32_t chunk) {
  std::vector<Range> ranges;
  const std::uint64_t chunks = domain / chunk, taken = budget / chunk;
  for (std::uint64_t i = 0; i < taken; ++i) ranges.push_back({i * (chunks - 1) / (taken - 1) * chunk, chunk});
  return ranges;
}

/// Two ranges in every binade of either sign, and the hardest inputs with their neighbours.
std::vector<Range> ranges_of_function(arithmetic::Function function, std::uint64_t domain,
                                      std::uint64_t budget) {
  constexpr std::uint32_t binades = 512, neighbours = 8;
  std::vector<Range> ranges = spread(domain, budget, static_cast<std::uint32_t>(budget / (2 * binades)));
  for (const auto& worst : fixtures::functions::worst_cases())
    if (worst.function == to_string(function))
      ranges.push_back({worst.input & ~(neighbours - 1), neighbours});
  return ranges;
}

/// The inputs of a level: all of them up to `budget`, else some of the domain.
std::vector<Range> ranges_of(const WrapperProbe& probe, std::uint64_t budget) {
  std::vector<Range> ranges;
  if (probe.domain <= budget) {
    constexpr std::uint32_t chunk = 1u << 22;
    for (std::uint64_t first = 0; first < probe.domain; first += chunk) {
      ranges.push_back(
          {first, static_cast<std::uint32_t>(std::min<std::uint64_t>(chunk, probe.domain - first))});
    }
    return ranges;
  }
  if (const auto function = function_of(probe.name))
    return ranges_of_function(*function, probe.domain, budget);
  return spread(probe.domain, budget, 1u << 12);
}

std::uint64_t budget_of(Level level, DeviceKind device) {
  if (level == Level::exhaustive) return ~std::uint64_t{0};
  if (level == Level::full) return std::uint64_t{1} << 24;
  return device == DeviceKind::cpu ? std::uint64_t{1} << 18 : std::uint64_t{1} << 20;
}

/// Outputs of the reference over a range, in the probe's output width, computed by all cores.
void fill_reference(const WrapperProbe& probe, const Reference& reference, const Range& range,
                    std::vector<std::byte>& out) {
  const std::size_t width = static_cast<std::size_t>(probe.output_bits) / 8;
  const unsigned workers = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (unsigned worker = 0; worker < workers; ++worker) {
    threads.emplace_back([&, worker] {
      const std::uint64_t begin = std::uint64_t{range.count} * worker / workers;
      const std::uint64_t end = std::uint64_t{range.count} * (worker + 1) / workers;
      for (std::uint64_t i = begin; i < end; ++i) {
        const std::uint32_t value = reference(static_cast<std::uint32_t>(range.first + i));
        std::memcpy(out.data() + i * width, &value, width);  // little-endian, as on every host CUDA has
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// What run_twin gives over a range, but for one output in `stride`, which is the reference's: 127 is a prime
/// just short of a tile of a matrix.
void fill_by_device_twin(const WrapperProbe& probe, Device& device, const Reference& reference,
                         const Range& range, std::vector<std::byte>& out) {
  constexpr std::size_t stride = 127;
  const std::size_t width = static_cast<std::size_t>(probe.output_bits) / 8;
  const auto buffer = device.allocate("twin output", range.count * width, 16);
  kernels::Witness unseen;
  kernels::LaunchContext context{device, unseen};
  probe.run_twin(context, range.first, range.count, *buffer);
  device.synchronize();
  buffer->download(out);
  for (std::size_t i = 0; i < range.count; i += stride) {
    const std::uint32_t value = reference(static_cast<std::uint32_t>(range.first + i));
    std::memcpy(out.data() + i * width, &value, width);
  }
}

Finding difference(const WrapperProbe& probe, const Range& range, std::size_t index,
                   std::span<const std::byte> actual, std::span<const std::byte> expected,
                   std::string_view against) {
  const std::size_t width = static_cast<std::size_t>(probe.output_bits) / 8;
  std::uint32_t got = 0, wanted = 0;
  std::memcpy(&got, actual.data() + index * width, width);
  std::memcpy(&wanted, expected.data() + index * width, width);
  Finding finding;
  finding.code = Code::wrapper_differs;
  finding.summary = fmt::format("input 0x{:08X}: the wrapper gives 0x{:0{}X}, its {} 0x{:0{}X}",
                                range.first + index, got, 2 * width, against, wanted, 2 * width);
  return finding;
}

/// Runs one probe over its ranges; nothing found means every output was equal.
std::optional<Finding> compare_probe(const WrapperProbe& probe, Device& device, const Reference& reference,
                                     std::string_view against, Level level, Row& row, Progress& progress) {
  const std::size_t width = static_cast<std::size_t>(probe.output_bits) / 8;
  for (const Range& range : ranges_of(probe, budget_of(level, device.kind()))) {
    const auto buffer = device.allocate("probe output", range.count * width, 16);
    std::vector<std::byte> actual(range.count * width), expected(range.count * width);
    for (std::size_t i = 0; i < actual.size(); ++i) actual[i] = std::byte{0xA5};
    buffer->upload(actual);
    kernels::Witness witness;
    kernels::LaunchContext context{device, witness};
    probe.run_instruction(context, range.first, range.count, *buffer);
    if (device.kind() == DeviceKind::cuda && probe.slow_host_twin) {
      fill_by_device_twin(probe, device, reference, range, expected);
    } else {
      fill_reference(probe, reference, range, expected);
    }
    device.synchronize();
    buffer->download(actual);
    ++row.cases;
    row.elements += range.count;
    for (const auto& launch : witness.launches) ++row.launches[launch.kernel];
    progress.work(std::string(probe.name), range.count);
    progress.step();
    if (actual == expected) continue;
    const auto at = std::mismatch(actual.begin(), actual.end(), expected.begin()).first - actual.begin();
    return difference(probe, range, static_cast<std::size_t>(at) / width, actual, expected, against);
  }
  return std::nullopt;
}

void run(Device& device, Level level, const std::function<bool(std::string_view)>& selected,
         Recorder& recorder) {
  const bool on_gpu = device.kind() == DeviceKind::cuda;
  std::uint64_t steps = 0;
  for (const WrapperProbe& probe : kernels::wrapper_probes(device.kind())) {
    if (selected(probe.name) && (on_gpu || oracle_of(probe.name)))
      steps += ranges_of(probe, budget_of(level, device.kind())).size();
  }
  Progress progress("wrappers");
  progress.expect(steps);
  for (const WrapperProbe& probe : kernels::wrapper_probes(device.kind())) {
    const auto oracle = oracle_of(probe.name);
    if (!selected(probe.name) || (!on_gpu && !oracle)) continue;
    Row& row = recorder.row("wrappers", probe.name, to_string(device.kind()));
    std::optional<Finding> found;
    try {
      found = compare_probe(probe, device, on_gpu ? Reference(probe.host_twin) : *oracle,
                            !on_gpu                ? "oracle"
                            : probe.slow_host_twin ? "twin"
                                                   : "host twin",
                            level, row, progress);
    } catch (const executor::ExecutorError& fault) {
      found = Finding{Code::kernel_fault, fault.what(), "", {}, {}, ""};
    } catch (const kernels::DeviceError& fault) {
      found = Finding{Code::kernel_fault, fault.what(), "", {}, {}, ""};
    }
    if (!found) continue;
    ++row.failed;
    found->place = fmt::format("wrappers/{} on {}", probe.name, to_string(device.kind()));
    recorder.add(std::move(*found));
  }
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const WrapperProbe& probe : kernels::wrapper_probes(DeviceKind::cpu)) result.emplace_back(probe.name);
  return result;
}

const Battery battery{"wrappers",
                      "PTX wrappers against their host twins (cuda), conversions, arithmetic and functions "
                      "against the oracle (cpu)",
                      names, run};
const RegisterBattery registration(&battery);

}  // namespace
}  // namespace assay::properties
