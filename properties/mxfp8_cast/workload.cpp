#include "properties/mxfp8_cast/workload.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <optional>
#include <thread>

#include "fixtures/files/tensor_file.hpp"
#include "fixtures/tensor/errors.hpp"
#include "kernels/mxfp8_cast/cast.hpp"
#include "oracles/formats/codec.hpp"
#include "properties/comparator/comparator.hpp"

namespace assay::properties::mxfp8_cast {
namespace {

namespace cast = kernels::mxfp8_cast;
using formats::Format;

std::size_t width(Format format) { return static_cast<std::size_t>(formats::storage_bytes(format)); }

cast::Input kernel_input(Format format) {
  return format == Format::fp32   ? cast::Input::fp32
         : format == Format::fp16 ? cast::Input::fp16
                                  : cast::Input::bf16;
}

/// The problem as a kernel sees it; the enumerations of oracle and kernel are separate on purpose and meet
/// only here.
cast::Problem problem_of(const Point& point) {
  cast::Problem problem;
  problem.rows = static_cast<std::int64_t>(point.shape.rows);
  problem.cols = static_cast<std::int64_t>(point.shape.cols);
  problem.rowwise.scale_rows = static_cast<std::int64_t>(point.shape.scale_rows);
  problem.rowwise.scale_stride = static_cast<std::int64_t>(point.shape.scale_stride);
  problem.input = kernel_input(point.input);
  problem.element = point.contracts.element == Format::e4m3 ? cast::Element::e4m3 : cast::Element::e5m2;
  switch (point.contracts.scale_rule) {
    case oracle::ScaleRule::rceil:
      problem.scale_rule = cast::ScaleRule::rceil;
      break;
    case oracle::ScaleRule::floor:
      problem.scale_rule = cast::ScaleRule::floor;
      break;
    case oracle::ScaleRule::ceil:
      problem.scale_rule = cast::ScaleRule::ceil;
      break;
    case oracle::ScaleRule::even:
      problem.scale_rule = cast::ScaleRule::even;
      break;
  }
  switch (point.contracts.specials) {
    case oracle::SpecialBlocks::poison:
      problem.specials = cast::SpecialBlocks::poison;
      break;
    case oracle::SpecialBlocks::te_staged:
      problem.specials = cast::SpecialBlocks::te_staged;
      break;
    case oracle::SpecialBlocks::te_register:
      problem.specials = cast::SpecialBlocks::te_register;
      break;
  }
  problem.padding =
      point.contracts.padding == oracle::Padding::zero ? cast::Padding::zero : cast::Padding::untouched;
  return problem;
}

/// The alignment X is given: 256 bytes, or exactly that of `offset` elements past a 256-byte boundary.
std::size_t input_alignment(const Point& point) {
  const std::size_t bytes = point.offset * width(point.input);
  return bytes == 0 ? 256 : std::min<std::size_t>(bytes & (~bytes + 1), 256);
}

/// The alignment the data is given: 16 bytes, or exactly that of `data_offset` elements past a 256-byte
/// boundary; an fp8 element is a byte.
std::size_t data_alignment(const Point& point) {
  return point.data_offset == 0 ? 16 : point.data_offset & (~point.data_offset + 1);
}

/// x * 2^exp for every finite code, which must be exact.
void shift_exponents(std::vector<std::byte>& x, const Point& point) {
  const int bytes = static_cast<int>(width(point.input));
  for (std::size_t i = 0; i < x.size() / width(point.input); ++i) {
    const std::uint32_t code = arithmetic::load_code(x, bytes, i);
    const formats::Exact value = formats::decode(point.input, code);
    if (value.kind != formats::Kind::finite) continue;
    const std::uint32_t moved = formats::encode(point.input, formats::scaled(value, point.exp));
    const formats::Exact back = formats::scaled(formats::decode(point.input, moved), -point.exp);
    if (back.kind != formats::Kind::finite || formats::compare_magnitude(back, value) != 0) {
      throw BadInput(
          fmt::format("case '{}': exp={} is not exact for element {}", print(point), point.exp, i));
    }
    arithmetic::store_code(x, bytes, i, moved);
  }
}

void rotate_blocks(std::vector<std::byte>& x, const Point& point) {
  const std::size_t block_bytes = oracle::block * width(point.input);
  const std::size_t blocks = x.size() / block_bytes;
  std::rotate(x.begin(), x.end() - static_cast<std::ptrdiff_t>((point.rotate % blocks) * block_bytes),
              x.end());
}

std::vector<std::byte> reported_input(const Point& point) {
  for (const auto& reported : fixtures::mxfp8_cast::reported()) {
    if (reported.id != point.reported) continue;
    const std::size_t expected = point.shape.rows * point.shape.cols * width(point.input);
    if (reported.input != point.input || reported.x.size() != expected) {
      throw BadInput(fmt::format("case '{}': reported fault {} is {} x {} of {}", print(point), reported.id,
                                 reported.rows, reported.cols, formats::spec(reported.input).name));
    }
    return reported.x;
  }
  throw BadInput(fmt::format("case '{}': there is no reported fault '{}'", print(point), point.reported));
}

std::vector<std::byte> rounded(const fixtures::Tensor& tensor, Format from, Format to) {
  const std::size_t count = tensor.elements();
  std::vector<std::byte> x(count * width(to));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t code = arithmetic::load_code(tensor.bytes, static_cast<int>(width(from)), i);
    arithmetic::store_code(x, static_cast<int>(width(to)), i,
                           formats::encode(to, formats::decode(from, code), formats::Rounding::nearest_even,
                                           formats::Overflow::propagate));
  }
  return x;
}

struct NamedFault {
  oracle::Fault fault;
  std::string_view pattern, detail;
};
constexpr NamedFault named_faults[] = {
    {oracle::Fault::element_truncated, "truncation",
     "every element is the exact quotient rounded toward zero"},
    {oracle::Fault::element_ties_away, "ties away from zero", "ties are rounded away from zero, not to even"},
    {oracle::Fault::element_through_fp16, "double rounding", "elements were rounded to fp16 and then to fp8"},
    {oracle::Fault::element_overflow_to_nan, "overflow to NaN",
     "magnitudes over the largest finite code became NaN or Inf"},
    {oracle::Fault::element_subnormal_flushed, "subnormal flushed",
     "elements in the subnormal range became zero"},
    {oracle::Fault::element_zero_sign_lost, "sign of zero lost", "-0 became +0"},
    {oracle::Fault::nan_dropped_by_max, "NaN dropped by max",
     "the block's amax is that of its other elements"},
    {oracle::Fault::scale_one_up, "scale off by one", "every scale byte is one higher, the data to match"},
    {oracle::Fault::scale_one_down, "scale off by one", "every scale byte is one lower, the data to match"},
    {oracle::Fault::scale_from_divided_amax, "exponent taken after the division",
     "the scale is that of floor(log2(amax / max))"},
    {oracle::Fault::scale_exact_power_doubled, "exact power of two doubled",
     "the exponent came from a frexp-like rounding up"},
    {oracle::Fault::reciprocal_254_flushed, "reciprocal of 254 flushed",
     "2^-127 is subnormal in fp32 and was taken as zero"},
    {oracle::Fault::reciprocal_0_is_one, "reciprocal of 0 taken as 1", "scale byte 0 means 2^-127"},
    {oracle::Fault::zero_block_nan, "zero block divided by zero", "a block of zeros became NaN"},
};

/// Whether the scales of a padded buffer stand where an unpadded one would have them. Where the kernel zeroes
/// padding, it may have zeroed some of them since.
bool lies_packed(const Point& point, std::span<const std::byte> expected, std::span<const std::byte> actual) {
  const oracle::Shape& shape = point.shape;
  const std::size_t blocks = shape.blocks_per_row();
  if (shape.scale_stride == blocks || shape.rows < 2) return false;
  const bool zeroed = point.contracts.padding == oracle::Padding::zero;
  for (std::size_t i = 0; i < shape.rows * blocks; ++i) {
    if (zeroed && i % shape.scale_stride >= blocks && actual[i] == std::byte{0}) continue;
    if (actual[i] != expected[i / blocks * shape.scale_stride + i % blocks]) return false;
  }
  return true;
}

}  // namespace

CastWorkload::CastWorkload(Point point) : point_(std::move(point)) {
  if (point_.source == Source::file) {
    const auto path = fixtures::parse_tensor_path(point_.on);
    if (path.tensor.empty()) throw BadInput(fmt::format("case '{}': on= names no tensor", token()));
    const fixtures::Tensor tensor =
        as_input(fixtures::open_tensor_file(path.file)->read(path.tensor), point_.input);
    if (tensor.elements() != point_.shape.rows * point_.shape.cols) {
      throw BadInput(
          fmt::format("case '{}': tensor '{}' has {} elements", token(), tensor.name, tensor.elements()));
    }
    x_ = tensor.bytes;
    owner_ = tensor.owner;
    return;
  }
  auto x = std::make_shared<std::vector<std::byte>>(
      point_.source == Source::reported
          ? reported_input(point_)
          : fixtures::mxfp8_cast::build(point_.fill, point_.input, point_.shape.rows, point_.shape.cols,
                                        point_.seed));
  if (point_.exp != 0) shift_exponents(*x, point_);
  if (point_.rotate != 0) rotate_blocks(*x, point_);
  x_ = *x;
  owner_ = std::move(x);
}

CastWorkload::CastWorkload(Point point, std::span<const std::byte> x, std::shared_ptr<const void> owner)
    : point_(std::move(point)), x_(x), owner_(std::move(owner)) {
  assert(x_.size() == point_.shape.rows * point_.shape.cols * width(point_.input));
}

Format input_format(const fixtures::Tensor& tensor) {
  switch (tensor.dtype) {
    case fixtures::DType::f32:
      return Format::fp32;
    case fixtures::DType::f16:
      return Format::fp16;
    case fixtures::DType::bf16:
      return Format::bf16;
    default:
      throw BadInput(
          fmt::format("tensor '{}': dtype {} is not supported by mxfp8_cast, which takes f32, f16 and bf16",
                      tensor.name, to_string(tensor.dtype)));
  }
}

fixtures::Tensor as_input(const fixtures::Tensor& tensor, Format input) {
  const Format from = input_format(tensor);
  if (from == input) return tensor;
  auto codes = std::make_shared<std::vector<std::byte>>(rounded(tensor, from, input));
  fixtures::Tensor converted = tensor;
  converted.dtype = input == Format::fp32   ? fixtures::DType::f32
                    : input == Format::fp16 ? fixtures::DType::f16
                                            : fixtures::DType::bf16;
  converted.bytes = *codes;
  converted.owner = std::move(codes);
  return converted;
}

std::vector<InputBuffer> CastWorkload::inputs() const {
  return {{"x", point_.input, x_, input_alignment(point_)}};
}

std::vector<OutputBuffer> CastWorkload::outputs() const {
  const oracle::Shape& shape = point_.shape;
  OutputBuffer data{"data",
                    point_.contracts.element,
                    shape.rows * shape.cols,
                    data_alignment(point_),
                    shape.rows,
                    shape.cols,
                    shape.cols,
                    oracle::block};
  OutputBuffer scales{"scales",
                      Format::e8m0,
                      shape.scale_rows * shape.scale_stride,
                      1,
                      shape.rows,
                      shape.blocks_per_row(),
                      shape.scale_stride,
                      1};
  return {data, scales};
}

const std::vector<arithmetic::Acceptance>& CastWorkload::acceptance() {
  if (acceptance_.empty()) {
    auto cast_acceptance =
        oracle::accept(point_.input, x_, point_.shape, point_.contracts, oracle::Fault::none,
                       std::max(1u, std::thread::hardware_concurrency()));
    acceptance_.push_back(std::move(cast_acceptance.data));
    acceptance_.push_back(std::move(cast_acceptance.scales));
  }
  return acceptance_;
}

kernels::Support CastWorkload::supports(std::size_t route, kernels::DeviceKind device) const {
  cast::Problem problem = problem_of(point_);
  // Addresses of the alignment that the buffers will have; a route may look at nothing else of them.
  problem.x = reinterpret_cast<const void*>(input_alignment(point_));
  problem.rowwise.data = reinterpret_cast<std::uint8_t*>(outputs()[0].alignment);
  problem.rowwise.scales = reinterpret_cast<std::uint8_t*>(outputs()[1].alignment);
  return cast::routes(device)[route].supports(problem);
}

kernels::Support CastWorkload::expected_support(std::size_t route) const {
  using kernels::Support;
  const std::string_view name = cast::routes(kernels::DeviceKind::cpu)[route].info.name;
  if (name != "register") return Support::yes();  // staged takes whatever a point can say
  if (point_.shape.cols % 128 != 0) return Support::no("cols % 128 != 0");
  if (inputs()[0].alignment < 16) return Support::no("x not 16-byte aligned");
  if (outputs()[0].alignment < 16) return Support::no("data not 16-byte aligned");
  return Support::yes();
}

ExpectedWitness CastWorkload::expected_witness(std::size_t route) const {
  const std::string_view name = cast::routes(kernels::DeviceKind::cpu)[route].info.name;
  return {{name == "register" ? "rowwise_register" : "rowwise_staged"}, {}};
}

void CastWorkload::launch(std::size_t route, kernels::LaunchContext& context, std::span<void* const> inputs,
                          std::span<void* const> outputs) const {
  cast::Problem problem = problem_of(point_);
  problem.x = inputs[0];
  problem.rowwise.data = static_cast<std::uint8_t*>(outputs[0]);
  problem.rowwise.scales = static_cast<std::uint8_t*>(outputs[1]);
  cast::routes(context.device.kind())[route].run(context, problem);
}

std::vector<Diagnosis> CastWorkload::diagnose(const Contents& actual, const Contents& before) {
  std::vector<Diagnosis> found;
  const oracle::Shape& shape = point_.shape;
  const auto& expected_scales = acceptance()[1].lo;
  const std::vector<std::size_t> wrong_scales = mismatching(acceptance()[1], actual[1], before[1]);

  if (!wrong_scales.empty() && lies_packed(point_, expected_scales, actual[1])) {
    found.push_back({"logical stride",
                     fmt::format("the scales lie {} apart, as if the row stride of {} were the block count",
                                 shape.blocks_per_row(), shape.scale_stride)});
  }
  for (const NamedFault& named : named_faults) {
    const auto faulty = oracle::accept(point_.input, x_, shape, point_.contracts, named.fault);
    if (compare(faulty.data, actual[0], before[0]).passed() &&
        compare(faulty.scales, actual[1], before[1]).passed()) {
      found.push_back({std::string(named.pattern), std::string(named.detail)});
    }
  }
  if (found.empty()) {
    // No single fault gives all of these bits; say at least when every wrong scale is a neighbour of the
    // right one.
    const auto differs_by_one = [&](std::size_t i) {
      const int difference = static_cast<int>(actual[1][i]) - static_cast<int>(expected_scales[i]);
      return difference == 1 || difference == -1;
    };
    if (!wrong_scales.empty() && std::all_of(wrong_scales.begin(), wrong_scales.end(), differs_by_one))
      found.push_back({"scale off by one",
                       fmt::format("{} scale bytes are a neighbour of the right one", wrong_scales.size())});
  }
  return found;
}

}  // namespace assay::properties::mxfp8_cast
