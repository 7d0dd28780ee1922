#include "properties/decode/tiny_decoder.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "oracles/formats/codec.hpp"
#include "properties/gate/buffers.hpp"

namespace assay::properties::decode {
namespace {

using formats::Format;
using kernels::Device;
using kernels::matmul_nbits::Levers;
using kernels::matmul_nbits::Problem;
using kernels::matmul_nbits::TensorCores;

constexpr std::uint64_t seed = 1;
constexpr std::uint32_t exponent_mask = 0x7F80, mantissa_bits = 7, sign_bit = 0x8000;
constexpr std::uint32_t bias = 127;
/// Both devices run the same bits only with the same slices of K.
constexpr unsigned k_split = 2;
/// Exponents of embeddings. The carry is about 1 and outweighs them, so that a difference of one code in a
/// node changes the text some twenty tokens on.
constexpr int embedding_low = -5, embedding_high = -3;

float number(Code16 code) { return std::bit_cast<float>(std::uint32_t{code} << 16); }

Code16 rounded(float value) {
  const auto exact = formats::decode(Format::fp32, std::bit_cast<std::uint32_t>(value));
  return static_cast<Code16>(
      formats::encode(Format::bf16, exact, formats::Rounding::nearest_even, formats::Overflow::propagate));
}

std::uint32_t exponent_of(Code16 code) { return (code & exponent_mask) >> mantissa_bits; }

void add_to(std::vector<std::vector<Code16>>& x, const std::vector<std::vector<Code16>>& more) {
  for (std::size_t row = 0; row < x.size(); ++row)
    std::transform(x[row].begin(), x[row].end(), more[row].begin(), x[row].begin(), add);
}

}  // namespace

Code16 add(Code16 a, Code16 b) { return rounded(number(a) + number(b)); }

Code16 multiply(Code16 a, Code16 b) { return rounded(number(a) * number(b)); }

std::vector<Code16> normalised(const std::vector<Code16>& x) {
  std::uint32_t largest = 0;
  for (const Code16 code : x) largest = std::max(largest, exponent_of(code));
  std::vector<Code16> result(x);
  for (Code16& code : result) {
    const std::uint32_t exponent = exponent_of(code) + bias;  // of the result, `largest` too high
    code = exponent_of(code) == 0 || exponent <= largest
               ? static_cast<Code16>(code & sign_bit)
               : static_cast<Code16>((code & ~exponent_mask) | (exponent - largest) << mantissa_bits);
  }
  return result;
}

unsigned argmax(const std::vector<Code16>& logits) {
  unsigned best = 0;
  std::uint32_t best_key = 0;  // under that of every number
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (formats::is_nan(Format::bf16, logits[i])) continue;
    const std::uint32_t key = formats::ordered_key(Format::bf16, logits[i]);
    if (key <= best_key) continue;
    best_key = key;
    best = static_cast<unsigned>(i);
  }
  return best;
}

TinyDecoder::TinyDecoder(Device& device, TensorCores tensor_cores, Levers levers)
    : device_(device),
      tensor_cores_(tensor_cores),
      levers_(levers),
      embeddings_(random_bf16(static_cast<std::size_t>(vocabulary * hidden), embedding_low, embedding_high,
                              seed, 1000)),
      position_codes_(random_bf16(positions * static_cast<std::size_t>(hidden), embedding_low, embedding_high,
                                  seed, 1001)),
      head_(device, "head", vocabulary, hidden, seed, 0) {
  for (std::size_t i = 0; i < layers; ++i) {
    layers_.push_back({Int4Matrix(device, "mix", hidden, window * hidden, seed, 3 * i + 1),
                       Int4Matrix(device, "up", 2 * mlp, hidden, seed, 3 * i + 2),
                       Int4Matrix(device, "down", hidden, mlp, seed, 3 * i + 3)});
  }
  witness_.device = to_string(device.kind());
  witness_.device_name = device.name();
  witness_.binary_hash = kernels::binary_hash();
}

kernels::DeviceBuffer& TinyDecoder::buffer(const char* name, std::size_t bytes) {
  auto& kept = buffers_[{name, bytes}];
  if (!kept) kept = device_.allocate(name, bytes, 256);
  return *kept;
}

TinyDecoder::Rows TinyDecoder::run_node(const Int4Matrix& weights, const Rows& a) {
  const auto n = static_cast<std::size_t>(weights.n()), k = static_cast<std::size_t>(weights.k());
  std::vector<Code16> flat;
  for (const auto& row : a) {
    assert(row.size() == k);
    flat.insert(flat.end(), row.begin(), row.end());
  }
  kernels::DeviceBuffer& input = buffer("activations", flat.size() * sizeof(Code16));
  kernels::DeviceBuffer& output = buffer("result", a.size() * n * sizeof(Code16));
  input.upload(bytes_of(flat));
  output.upload(poisoned(output.bytes(), levers_.restore_staging));
  Problem problem =
      weights.node(static_cast<std::int64_t>(a.size()), input.data(), output.data(), k_split, tensor_cores_);
  kernels::DeviceBuffer& workspace =
      buffer("workspace", std::max<std::size_t>(kernels::matmul_nbits::workspace_bytes(problem), 1));
  problem.workspace = workspace.data();
  kernels::LaunchContext context{device_, witness_};
  kernels::matmul_nbits::run_node(context, problem, levers_);
  ++nodes_;
  device_.synchronize();
  std::vector<std::byte> bytes(output.bytes());
  output.download(bytes);
  Rows result(a.size(), std::vector<Code16>(n));
  for (std::size_t row = 0; row < a.size(); ++row)
    std::memcpy(result[row].data(), bytes.data() + row * n * sizeof(Code16), n * sizeof(Code16));
  return result;
}

TinyDecoder::Rows TinyDecoder::embed(const std::vector<unsigned>& tokens, const Past& past) const {
  constexpr auto width = static_cast<std::size_t>(hidden);
  Rows x;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    assert(tokens[i] < vocabulary);
    const Code16* const token = &embeddings_[tokens[i] * width];
    const Code16* const position = &position_codes_[(past.inputs[0].size() + i) % positions * width];
    auto& row = x.emplace_back(width);
    std::transform(token, token + width, position, row.begin(), add);
    std::transform(row.begin(), row.end(), past.carry.begin(), row.begin(), add);
  }
  return x;
}

std::vector<Code16> TinyDecoder::forward(const std::vector<unsigned>& tokens, Past& past) {
  const std::vector<Code16> zeros(static_cast<std::size_t>(hidden));
  Rows x = embed(tokens, past);
  for (std::size_t i = 0; i < layers; ++i) {
    Rows& inputs = past.inputs[i];
    Rows windows;
    for (const auto& row : x) {
      inputs.push_back(normalised(row));
      auto& one = windows.emplace_back();
      for (std::size_t back = 0; back < static_cast<std::size_t>(window); ++back) {
        const auto& from = back < inputs.size() ? inputs[inputs.size() - 1 - back] : zeros;
        one.insert(one.end(), from.begin(), from.end());
      }
    }
    add_to(x, run_node(layers_[i].mix, windows));
    Rows gated;
    for (const auto& row : x) gated.push_back(normalised(row));
    gated = run_node(layers_[i].up, gated);
    for (auto& row : gated) {
      for (std::size_t j = 0; j < static_cast<std::size_t>(mlp); ++j) {
        const Code16 gate = row[j] & sign_bit ? Code16{0} : row[j];
        row[j] = multiply(gate, row[j + static_cast<std::size_t>(mlp)]);
      }
      row.resize(static_cast<std::size_t>(mlp));
    }
    add_to(x, run_node(layers_[i].down, gated));
  }
  past.carry = normalised(x.back());
  return run_node(head_, {past.carry}).front();
}

std::vector<unsigned> TinyDecoder::generate(const std::vector<unsigned>& prompt, std::size_t count) {
  assert(!prompt.empty() && count > 0);
  Past past;
  past.carry.resize(static_cast<std::size_t>(hidden));
  std::vector<unsigned> text = {argmax(forward(prompt, past))};
  while (text.size() < count) text.push_back(argmax(forward({text.back()}, past)));
  return text;
}

RunRecord decode_greedily(Device& device, TensorCores tensor_cores, Levers levers) {
  TinyDecoder decoder(device, tensor_cores, levers);
  RunRecord record;
  // Twelve tokens are over loop_max_m, five are not.
  record.texts.push_back(decoder.generate({17, 201, 64, 5, 190, 33, 88, 143, 250, 9, 121, 76}, 60));
  record.texts.push_back(decoder.generate({211, 3, 98, 160, 42}, 80));
  record.device = decoder.witness().device;
  record.device_name = decoder.witness().device_name;
  record.restore_staging = levers.restore_staging;
  record.casts = decoder.casts();
  for (const auto& launch : decoder.witness().launches) ++record.launches[launch.kernel];
  return record;
}

}  // namespace assay::properties::decode
