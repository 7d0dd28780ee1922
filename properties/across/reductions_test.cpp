// Smaller cases cut out of larger ones: right where those are right, and made of the same numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "fixtures/matmul_nbits/inputs.hpp"
#include "fixtures/tensor/generator.hpp"
#include "kernels/runtime/device.hpp"
#include "properties/gate/case_text.hpp"
#include "properties/gate/cuts.hpp"
#include "properties/gate/judge.hpp"

namespace assay::properties {
namespace {

using arithmetic::Acceptance;
using arithmetic::load_code;

const std::vector<std::string> tokens = {
    "mxfp8_cast:in=bf16,rows=3,cols=160,srows=5,stride=8,offset=3,fill=any_bits",
    "mxfp8_cast:in=fp32,dir=colwise,rows=70,cols=96,csrows=4,cstride=101,cdoffset=16",
    "mxfp8_cast:in=bf16,dir=bidimensional,scales=swizzled,rows=130,cols=160,padding=zero,fill=ramps",
    "mxfp8_cast:in=bf16,dir=bidimensional,rows=64,cols=256,doffset=16,transpose=1,fill=normal,rotate=1",
    "mxfp8_dequant:fp8=e5m2,rows=3,cols=77,srows=5,stride=6,pad=random,dalign=1,data=any_bits",
    "mxfp8_dequant:out=fp32,dir=colwise,rows=45,cols=9,srows=2,stride=13,pad=nan",
    "mxfp8_dequant:out=fp16,layout=swizzled,rows=131,cols=200,pad=random",
    "mxfp8_dequant:dir=colwise,layout=swizzled,rows=133,cols=96,pad=nan",
    "matmul_nbits:model=bf16,schedule=split_k,bias=once,m=3,n=11,k=104,pad=noise,pattern=ordinary",
    "matmul_nbits:model=fp32,schedule=tile,bits=2,block=16,zp=packed,m=2,n=5,k=90,pad=ones,aalign=4",
    "matmul_nbits:model=fp16,schedule=natural,zp=packed,m=1,n=9,k=160,interleaved=1",
    "matmul_nbits:model=bf16,schedule=mma,bits=8,block=32,zp=none,m=5,n=10,k=70,bias=twice",
    "gated_delta:io=bf16,state=bf16,gates=raw,batch=3,steps=5,pool=5,h=2,hv=4,astride=7,bstride=5,slots="
    "holes",
    "gated_delta:io=fp32,gates=precomputed,layout=vk,batch=2,steps=2,pool=4,h=2,hv=2,k=128,v=128,slots="
    "permuted,salign=32"};

std::uint64_t number_in(const std::string& token, const std::string& key) {
  for (const std::string lead : {",", ":"}) {
    const std::size_t at = token.find(lead + key + "=");
    if (at != token.npos) return std::stoull(token.substr(at + key.size() + 2));
  }
  return 0;
}

std::uint32_t code_at(const Acceptance& acceptance, std::size_t index) {
  return load_code(acceptance.lo, formats::storage_bytes(acceptance.format), index);
}

/// Whether the reduction keeps all that its element is made of.
bool keeps_the_sum(const std::string& whole, const std::string& part, std::size_t output,
                   std::size_t element) {
  if (whole.starts_with("matmul_nbits")) return number_in(whole, "k") == number_in(part, "k");
  if (!whole.starts_with("gated_delta")) return true;
  if (number_in(whole, "k") != number_in(part, "k")) return false;
  const std::uint64_t steps = number_in(whole, "steps"), left = number_in(part, "steps");
  if (output == 1) return steps == left;
  const std::uint64_t dim = std::max<std::uint64_t>(number_in(whole, "v"), 64);
  return element / dim / number_in(whole, "hv") % steps < left;
}

/// First, last and some others between them, the same on every machine.
std::set<std::size_t> some_elements(std::size_t elements, std::uint64_t stream) {
  std::set<std::size_t> some = {0, elements - 1};
  for (std::uint64_t i = 0; i < 3; ++i) some.insert(fixtures::draw_below(elements, 1, stream, i));
  return some;
}

bool untouched(const Acceptance& acceptance, std::size_t index) {
  return std::any_of(acceptance.untouched.begin(), acceptance.untouched.end(),
                     [&](const auto& range) { return range.begin <= index && index < range.end; });
}

/// Calls use(workload, output, element, reduction, reduced workload) for every reduction of some elements.
void for_each_reduction(
    const std::string& token,
    const std::function<void(Workload&, std::size_t, std::size_t, const Reduction&, Workload&)>& use) {
  const Family& family = family_of(parse_case(token));
  const auto workload = family.materialise(token);
  const auto outputs = workload->outputs();
  for (std::size_t output = 0; output < outputs.size(); ++output) {
    for (const std::size_t element : some_elements(outputs[output].elements, output)) {
      for (const Reduction& reduction : workload->reductions(output, element)) {
        Contents contents = reduction.given();
        const auto blank = family.blank(reduction.token);
        const auto buffers = given(*blank);
        ASSERT_EQ(contents.size(), buffers.size()) << reduction.token;
        for (std::size_t i = 0; i < buffers.size(); ++i)
          ASSERT_EQ(contents[i].size(), buffers[i].bytes.size()) << reduction.token << " " << buffers[i].name;
        const auto part = family.with_contents(reduction.token, std::move(contents));
        use(*workload, output, element, reduction, *part);
      }
    }
  }
}

TEST(Reductions, TheKeptElementIsExpectedToBeTheSame) {
  for (const std::string& token : tokens) {
    std::size_t compared = 0;
    for_each_reduction(token, [&](Workload& whole, std::size_t output, std::size_t element,
                                  const Reduction& reduction, Workload& part) {
      const Acceptance& from = whole.acceptance()[output];
      const Acceptance& to = part.acceptance()[output];
      ASSERT_LT(reduction.element, to.size()) << reduction.token;
      if (untouched(from, element) || !keeps_the_sum(whole.token(), reduction.token, output, element)) return;
      // Padding of swizzled scales may be gone.
      const OutputBuffer buffer = whole.outputs()[output];
      if (buffer.place && !buffer.place(element)) return;
      if (buffer.name.starts_with("scales") &&
          element % std::max<std::size_t>(buffer.stride, 1) >= buffer.cols)
        return;
      ASSERT_EQ(code_at(to, reduction.element), code_at(from, element))
          << token << "\n"
          << reduction.token << "\n"
          << buffer.name << "[" << element << "]";
      ++compared;
    });
    EXPECT_GT(compared, 15u) << token;
  }
}

/// Outputs in which neighbours stay neighbours: every element of a smaller case is that of the larger one, as
/// far from the kept element.
TEST(Reductions, AllTheirElementsAreThoseOfTheLargerCase) {
  for (const std::string& token : tokens) {
    if (token.starts_with("gated_delta")) continue;
    for_each_reduction(token, [&](Workload& whole, std::size_t output, std::size_t element,
                                  const Reduction& reduction, Workload& part) {
      const OutputBuffer from = whole.outputs()[output], to = part.outputs()[output];
      if (from.name.starts_with("scales") || !keeps_the_sum(token, reduction.token, output, element)) return;
      const std::size_t row = element / from.stride - reduction.element / to.stride;
      const std::size_t col = element % from.stride - reduction.element % to.stride;
      for (std::size_t r = 0; r < to.rows; ++r)
        for (std::size_t c = 0; c < to.cols; ++c)
          ASSERT_EQ(code_at(part.acceptance()[output], r * to.stride + c),
                    code_at(whole.acceptance()[output], (row + r) * from.stride + col + c))
              << token << "\n"
              << reduction.token;
    });
  }
}

TEST(Reductions, ThoseOfARightCaseAreRight) {
  kernels::Device& cpu = *kernels::device(kernels::DeviceKind::cpu);
  for (const std::string& token : tokens) {
    const Family& family = family_of(parse_case(token));
    std::map<Verdict, std::size_t> verdicts;
    std::set<std::string> judged;
    for_each_reduction(token,
                       [&](Workload&, std::size_t, std::size_t, const Reduction& reduction, Workload& part) {
                         if (!judged.insert(reduction.token).second) return;
                         for (std::size_t route = 0; route < family.routes().size(); ++route) {
                           const CaseResult result = judge_case(family, part, route, cpu, Detail::codes);
                           ++verdicts[result.verdict];
                           ASSERT_NE(result.verdict, Verdict::fail) << token << "\n"
                                                                    << reduction.token << "\n"
                                                                    << result.findings.front().summary;
                           ASSERT_NE(result.verdict, Verdict::error) << token << "\n" << reduction.token;
                         }
                       });
    EXPECT_GT(verdicts[Verdict::pass], 3u) << token;
  }
}

TEST(Reductions, TheFirstIsOneBlockAndTheLastAreAlmostTheWhole) {
  const auto workload = build_case("mxfp8_cast:in=bf16,rows=4096,cols=256,offset=8,stride=11");
  const auto reductions = workload->reductions(0, 4095 * 256 + 255);
  ASSERT_GT(reductions.size(), 3u);
  EXPECT_NE(reductions.front().token.find(",rows=1,cols=32,srows=1,stride=4,offset=8"), std::string::npos)
      << reductions.front().token;
  EXPECT_EQ(reductions.front().element, 31u);
  EXPECT_NE(reductions.back().token.find(",rows=4096,cols=256,srows=4096,stride=8,offset=8"),
            std::string::npos)
      << reductions.back().token;
  EXPECT_TRUE(build_case("mxfp8_cast:in=bf16,rows=1,cols=32")->reductions(0, 0).empty());
}

/// Zero points of four and two bits, cut at odd places, and the weights, scales and A that go with them.
TEST(Reductions, PartsOfKCarryTheirOperands) {
  namespace fixture = fixtures::matmul_nbits;
  for (const std::string token : {"matmul_nbits:model=bf16,bits=4,block=16,m=2,n=3,k=120,pad=noise",
                                  "matmul_nbits:model=bf16,bits=2,block=16,m=2,n=3,k=190,pad=noise"}) {
    const auto whole = build_case(token);
    const std::size_t bits = number_in(token, "bits"), k = number_in(token, "k"), block = 16;
    const fixture::Shape from{2, 3, k, bits, block};
    const auto buffers = given(*whole);
    std::size_t cut = 0, odd = 0;
    for (const Reduction& reduction : whole->reductions(0, 4)) {
      const std::size_t left = number_in(reduction.token, "k");
      if (left == k || number_in(reduction.token, "m") != 2 || number_in(reduction.token, "n") != 3) continue;
      ++cut;
      const fixture::Shape to{2, 3, left, bits, block};
      const Contents part = reduction.given();
      // A tells where the part begins: at a block, and nowhere twice.
      std::vector<std::size_t> begins;
      for (std::size_t b = 0; b * block + left <= k; ++b) {
        bool equal = true;
        for (std::size_t i = 0; i < 2 * left; ++i)
          equal = equal && load_code(part[0], 2, i) ==
                               load_code(buffers[0].bytes, 2, i / left * k + b * block + i % left);
        if (equal) begins.push_back(b);
      }
      ASSERT_EQ(begins.size(), 1u) << reduction.token;
      const std::size_t first = begins.front();
      odd += first % 2;
      for (std::size_t column = 0; column < 3; ++column) {
        for (std::size_t i = 0; i < left; ++i)
          ASSERT_EQ(
              fixture::packed_code(part[1], to.row_bytes(), bits, column, i),
              fixture::packed_code(buffers[1].bytes, from.row_bytes(), bits, column, first * block + i));
        for (std::size_t b = 0; b < to.blocks(); ++b) {
          ASSERT_EQ(load_code(part[2], 2, column * to.blocks() + b),
                    load_code(buffers[2].bytes, 2, column * from.blocks() + first + b));
          ASSERT_EQ(
              fixture::packed_code(part[3], to.zero_point_row_bytes(), bits, column, b),
              fixture::packed_code(buffers[3].bytes, from.zero_point_row_bytes(), bits, column, first + b));
        }
      }
    }
    EXPECT_GT(cut, 3u) << token;
    EXPECT_GT(odd, 0u) << token;
  }
}

TEST(Reductions, PaddingHoldsWhatItHeld) {
  // Scales [2, 2] in a buffer of 3 rows of 5; the case keeps one block, and its padding.
  const auto whole = build_case(
      "mxfp8_dequant:rows=2,cols=64,srows=3,stride=5;zeros;"
      "scales[0]=10 11 12 13 14 20 21 22 23 24 30 31 32 33 34");
  const Contents part = whole->reductions(0, 64 + 40).front().given();
  std::vector<std::uint32_t> codes;
  for (const std::byte code : part[1]) codes.push_back(std::to_integer<std::uint32_t>(code));
  EXPECT_EQ(codes, (std::vector<std::uint32_t>{0x21, 0x22, 0x23, 0x24, 0x31, 0x32, 0x33, 0x34}));
  // a [2, 3 + 2] of bf16: head 1, and the two elements behind the heads.
  const auto state = build_case(
      "gated_delta:io=bf16,gates=raw,batch=2,h=3,hv=3,astride=5;zeros;"
      "a[0]=0001 0002 0003 0004 0005 0011 0012 0013 0014 0015");
  const Contents head = state->reductions(0, (3 + 1) * 64).front().given();
  std::vector<std::uint32_t> a;
  for (std::size_t i = 0; i < head[3].size() / 2; ++i) a.push_back(load_code(head[3], 2, i));
  EXPECT_EQ(a, (std::vector<std::uint32_t>{0x12, 0x14, 0x15}));
}

TEST(Reductions, SlotsStayWithTheirSequences) {
  const std::string token = "gated_delta:io=fp32,batch=3,pool=6,slots=permuted";
  const auto whole = build_case(token);
  const auto buffers = given(*whole);
  const auto slot_of = [](std::span<const std::byte> slots, std::size_t i) {
    return static_cast<std::int32_t>(load_code(slots, 4, i));
  };
  const auto slots =
      std::find_if(buffers.begin(), buffers.end(), [](const auto& one) { return one.structural; });
  const auto at = static_cast<std::size_t>(slots - buffers.begin());
  for (const Reduction& reduction : whole->reductions(0, 2 * 64)) {
    const Contents part = reduction.given();
    const std::size_t batch = number_in(reduction.token, "batch");
    for (std::size_t i = 0; i < batch; ++i) {
      // The last sequences are kept, or all.
      const std::int32_t before = slot_of(slots->bytes, 3 - batch + i), after = slot_of(part[at], i);
      ASSERT_EQ(before < 0, after < 0) << reduction.token;
      if (before < 0 || number_in(reduction.token, "k") != 64) continue;
      const std::size_t state = 64 * 64 * 4;
      const auto from = buffers.back().bytes.subspan(static_cast<std::size_t>(before) * state, state);
      ASSERT_TRUE(std::equal(
          from.begin(), from.end(),
          part.back().begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(after) * state)))
          << reduction.token;
    }
  }
}

TEST(Cuts, AreWindowsPrefixesAndSuffixesWithTheWholeLast) {
  EXPECT_EQ(cuts_around(0, 1, 1), (std::vector<Cut>{{0, 1}}));
  EXPECT_EQ(cuts_around(5, 8, 1), (std::vector<Cut>{{5, 6}, {4, 6}, {5, 8}, {4, 8}, {0, 6}, {0, 8}}));
  EXPECT_EQ(cuts_around(70, 77, 32), (std::vector<Cut>{{64, 77}, {0, 77}}));
  const auto both = boxes({cuts_around(1, 2, 1), cuts_around(0, 2, 1)});
  EXPECT_EQ(both, (std::vector<std::vector<Cut>>{{{1, 2}, {0, 1}}, {{1, 2}, {0, 2}}, {{0, 2}, {0, 1}}}));
}

}  // namespace
}  // namespace assay::properties
