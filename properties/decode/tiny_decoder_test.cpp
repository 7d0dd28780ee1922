// The host arithmetic of the small decoder, and that its texts are worth comparing.
#include "properties/decode/tiny_decoder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "properties/decode/simulation.hpp"

namespace assay::properties::decode {
namespace {

kernels::Device& cpu() { return *kernels::device(kernels::DeviceKind::cpu); }

TEST(TinyDecoder, AddsAndMultipliesToNearestEven) {
  EXPECT_EQ(add(0x3F80, 0x3F80), 0x4000);  // 1 + 1
  EXPECT_EQ(add(0x3F80, 0x3B80), 0x3F80);  // 1 + 2^-8: a tie, to the even code
  EXPECT_EQ(add(0x3F81, 0x3B80), 0x3F82);  // one code on, the tie goes up
  EXPECT_EQ(add(0x3F80, 0x3B81), 0x3F81);  // just over it
  EXPECT_EQ(add(0x7F7F, 0x7F7F), 0x7F80);  // over the largest: Inf
  EXPECT_EQ(add(0x8000, 0x8000), 0x8000);
  EXPECT_EQ(multiply(0xBF80, 0x4000), 0xC000);
  EXPECT_EQ(multiply(0x3F81, 0x3F81), 0x3F82);  // (1 + 2^-7)^2 = 1 + 2^-6 + 2^-14
  EXPECT_EQ(multiply(0x0000, 0x7F80), 0x7FFF);  // 0 * Inf
}

TEST(TinyDecoder, NormalisingMovesExponentsAlone) {
  EXPECT_EQ(normalised({0x4120, 0xC0A0, 0x3F80, 0x0000}), (std::vector<Code16>{0x3FA0, 0xBF20, 0x3E00, 0}))
      << "10, -5, 1 and 0 by 8";
  EXPECT_EQ(normalised({0x0080, 0x8081}), (std::vector<Code16>{0x3F80, 0xBF81})) << "the smallest normals";
  EXPECT_EQ(normalised({0x0001, 0x8001}), (std::vector<Code16>{0x0000, 0x8000})) << "subnormals alone";
  EXPECT_EQ(normalised({0x7F00, 0x0081, 0x8100}), (std::vector<Code16>{0x3F80, 0x0000, 0x8000}))
      << "what falls under the smallest normal is a zero";
  EXPECT_EQ(normalised({0x7F00, 0x4000}), (std::vector<Code16>{0x3F80, 0x0080}));
}

TEST(TinyDecoder, ArgmaxTakesTheFirstOfTheLargest) {
  EXPECT_EQ(argmax({0x3F80, 0x4000, 0x4000, 0x3F80}), 1u);
  EXPECT_EQ(argmax({0xC000, 0xBF80, 0xC000}), 1u);
  EXPECT_EQ(argmax({0x8000, 0x0000}), 1u) << "+0 is larger than -0";
  EXPECT_EQ(argmax({0x7FFF, 0xFF80, 0xFFFF}), 1u) << "NaNs are passed over, -Inf is not";
  EXPECT_EQ(argmax({0x7FFF, 0x7FFF}), 0u);
}

TEST(TinyDecoder, GreedyDecodePassesAndItsTextsDifferFromEachOther) {
  using kernels::matmul_nbits::TensorCores;
  const RunRecord direct = decode_greedily(cpu(), TensorCores::hopper, {false});
  const RunRecord staged = decode_greedily(cpu(), TensorCores::hopper, {true});
  ASSERT_EQ(direct.texts.size(), 2u);
  EXPECT_EQ(direct.texts[0].size(), 60u);
  EXPECT_EQ(direct.texts[1].size(), 80u);
  for (const auto& text : direct.texts) EXPECT_GE(std::set(text.begin(), text.end()).size(), 20u);
  EXPECT_EQ(judge_levers(direct, staged, "cpu", cpu().name()).verdict, Verdict::pass);
  EXPECT_EQ(judge_levers(direct, direct, "cpu", cpu().name()).verdict, Verdict::vacuous);
  EXPECT_EQ(judge_levers(direct, staged, "cuda", "NVIDIA H200").verdict, Verdict::fail);
  // One pass over the prompt of 6 nodes in its layers and one of one row, then steps of 7; all these store.
  EXPECT_EQ(direct.casts.nodes, 7u * (60 + 80));
  EXPECT_EQ(direct.casts.accepted, 7u * (59 + 79) + 2);
  EXPECT_EQ(direct.casts.casts, 2u * 6);
  EXPECT_EQ(staged.casts.casts, 7u * (60 + 80));
}

/// A prompt that differs in its first token only, which the window of its last one does not reach.
TEST(TinyDecoder, ATextDependsOnTheWholePrompt) {
  TinyDecoder decoder(cpu(), kernels::matmul_nbits::TensorCores::hopper, {false});
  std::vector<unsigned> prompt = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const auto text = decoder.generate(prompt, 12);
  EXPECT_EQ(decoder.generate(prompt, 12), text) << "nothing is left of the text before";
  prompt[0] = 200;
  EXPECT_NE(decoder.generate(prompt, 12), text);
}

TEST(Int4Matrix, RandomCodesAreWhatTheyShouldBe) {
  const auto codes = random_bf16(4096, -3, 0, 7, 1);
  std::size_t negative = 0;
  std::set<unsigned> exponents, mantissas;
  for (const Code16 code : codes) {
    negative += code >> 15;
    exponents.insert(code >> 7 & 0xFF);
    mantissas.insert(code & 0x7F);
  }
  EXPECT_GT(negative, codes.size() / 3) << "signs are balanced";
  EXPECT_LT(negative, codes.size() * 2 / 3);
  EXPECT_EQ(exponents, (std::set<unsigned>{124, 125, 126, 127}));
  EXPECT_EQ(mantissas.size(), 128u);
  std::vector<std::size_t> nibbles(16);
  for (const std::byte byte : random_bytes(8192, 7, 2)) {
    ++nibbles[std::to_integer<unsigned>(byte) & 15];
    ++nibbles[std::to_integer<unsigned>(byte) >> 4];
  }
  for (const std::size_t count : nibbles) {
    EXPECT_GT(count, 1024u / 2) << "every int4 code is about as frequent";
    EXPECT_LT(count, 1024u * 2);
  }
  EXPECT_NE(random_bytes(64, 7, 2), random_bytes(64, 7, 3));
  EXPECT_NE(random_bytes(64, 7, 2), random_bytes(64, 8, 2));
  const auto longer = random_bytes(64, 7, 2), shorter = random_bytes(39, 7, 2);
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), longer.begin()));
}

TEST(Int4Matrix, ScalesKeepASumAboutOne) {
  for (const std::int64_t k : {32, 64, 512, 5120, 27648}) {
    const double sum = std::ldexp(8 * std::sqrt(static_cast<double>(k)), scale_exponent(k));
    EXPECT_LE(sum, 1.5) << k;
    EXPECT_GE(sum, 0.5) << k;
  }
}

TEST(Simulation, PassesAreOfAllPhasesAndSixtyFourTokens) {
  std::int64_t token = 0;
  std::size_t count[phases] = {};
  for (const Pass& pass : decode_passes()) {
    EXPECT_EQ(pass.first_token, token);
    token += pass.tokens;
    ++count[static_cast<std::size_t>(pass.phase())];
  }
  EXPECT_EQ(token, 64);
  EXPECT_EQ(count[0], 1u);
  EXPECT_GE(count[1], 2u);
  EXPECT_GE(count[2], 8u);
}

TEST(Simulation, TheDecoderHasThirtyBillionParameters) {
  std::int64_t layer = 0;
  for (const Projection& one : layer_projections()) layer += one.n * one.k;
  const Projection head = head_projection();
  EXPECT_EQ(layer * decoder_layers + 2 * head.n * head.k, 32'762'757'120) << "with the embedding";
}

TEST(Simulation, ExtentsAreRoundedUp) {
  const Projection one = reduced({"down", 5120, 27648}, {1024, 160});
  EXPECT_EQ(one.name, "down");
  EXPECT_EQ(one.n, 8);
  EXPECT_EQ(one.k, 192);
  const Projection whole = reduced(head_projection(), {1, 1});
  EXPECT_EQ(whole.n, 152064);
  EXPECT_EQ(whole.k, 5120);
}

TEST(Simulation, CountsDoNotDependOnExtents) {
  Progress progress("test");
  const SimulationRun small = simulate_decode(cpu(), {1 << 20, 1 << 20}, progress);
  EXPECT_EQ(judge_simulation(small.record).verdict, Verdict::pass);
  std::uint64_t steps = 0, rows = 0;
  for (const Pass& pass : decode_passes()) {
    steps += pass.phase() == Phase::step;
    rows += pass.phase() == Phase::prefill ? 0 : static_cast<std::uint64_t>(pass.tokens);
  }
  const std::uint64_t nodes = 7 * decoder_layers + 1;
  const Casts direct = total(small.record.direct), staged = total(small.record.staged);
  EXPECT_EQ(direct.accepted, nodes * steps);
  EXPECT_EQ(staged.casts, nodes * decode_passes().size());
  EXPECT_EQ(staged.casts - direct.casts, direct.accepted);
  EXPECT_EQ(small.launches.at("gemv_split_k"), 2 * nodes * rows);
  EXPECT_EQ(small.launches.at("narrow_staging"), direct.casts + staged.casts);
  EXPECT_EQ(small.launches.at("gemm_mma"), 2 * nodes);
}

}  // namespace
}  // namespace assay::properties::decode
