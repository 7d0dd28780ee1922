// Every known fault's output is given its name, and what no fault explains is given none.
#include "properties/matmul_nbits/diagnosis.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "properties/matmul_nbits/workload.hpp"

namespace assay::properties::matmul_nbits {
namespace {

using oracle::Fault;

std::vector<std::string> patterns(MatmulWorkload& workload, const std::vector<std::byte>& actual) {
  const Contents before{std::vector<std::byte>(actual.size(), std::byte{0xA5})};
  std::vector<std::string> names;
  for (const Diagnosis& diagnosis : workload.diagnose({actual}, before)) names.push_back(diagnosis.pattern);
  return names;
}

struct Planted {
  Fault fault;
  const char *pattern, *token;
  int n = 40, k = 589;
};

/// A case in which the fault shows and no other gives the same output.
constexpr Planted planted[] = {
    {Fault::nibbles_swapped, "nibbles swapped", ""},
    {Fault::code_off_by_one, "codes off by one", ""},
    {Fault::codes_signed, "codes taken as signed", ""},
    {Fault::zero_point_ignored, "zero point ignored", ""},
    {Fault::zero_point_default, "zero point left at its default", ""},
    {Fault::zero_points_swapped, "zero points swapped", ""},
    {Fault::zero_points_not_padded, "zero point rows without padding", ""},
    {Fault::row_stride_without_padding, "weight rows without padding", ""},
    {Fault::scale_of_next_block, "scale of the next block", ""},
    {Fault::scales_transposed, "scales transposed", ""},
    {Fault::scale_ignored, "scale ignored", ""},
    {Fault::tail_dropped, "tail dropped", ""},
    {Fault::last_block_dropped, "last block dropped", ""},
    {Fault::last_split_dropped, "last slice dropped", "split=8,", 40, 2077},
    {Fault::splits_stop_early, "first slice alone", "split=8,", 40, 2077},
    {Fault::bias_dropped, "bias dropped", "bias=once,"},
    {Fault::bias_twice_for_once, "bias rounded otherwise", "bias=once,model=fp16,", 200},
    {Fault::direct_rounding, "stored without fp16", "pattern=rounding,"},
    {Fault::truncated, "truncation", ""},
    {Fault::saturated, "overflow saturated", "pattern=rounding,"},
    {Fault::subnormals_flushed, "subnormal flushed", "pattern=underflow,model=fp16,"},
    {Fault::zero_hoisted, "zero point hoisted", ""},
    {Fault::weights_not_rounded, "weights not rounded", "model=fp16,"},
    {Fault::accumulated_in_fp32, "accumulated in fp32", "model=fp16,", 40, 1101},
    {Fault::other_pairs, "other pairs", "schedule=natural,model=fp16,", 40, 1056},
};

TEST(Diagnosis, EveryFaultIsNamedAlone) {
  ASSERT_EQ(std::size(planted), oracle::fault_count);
  for (std::size_t i = 0; i < std::size(planted); ++i) {
    const Planted& one = planted[i];
    ASSERT_EQ(static_cast<std::size_t>(one.fault), i);
    MatmulWorkload workload(parse(fmt::format("matmul_nbits:n={},k={},{}seed=3", one.n, one.k, one.token)));
    const auto faulty = oracle::faulty(one.fault, workload.point().contracts, workload.point().shape,
                                       view(workload.operands()));
    ASSERT_FALSE(faulty.empty()) << one.pattern;
    EXPECT_EQ(patterns(workload, faulty), std::vector<std::string>{one.pattern}) << to_string(one.fault);
  }
}

/// The right output, to be damaged; element by element of two bytes.
class Damaged {
 public:
  explicit Damaged(const std::string& pairs)
      : workload_(parse("matmul_nbits:" + pairs)), right_(workload_.acceptance()[0].lo), y_(right_) {}
  void stale(std::size_t row, std::size_t col) { std::memset(y_.data() + at(row, col), 0xA5, 2); }
  void take(std::size_t row, std::size_t col, std::size_t from_row, std::size_t from_col) {
    std::memcpy(y_.data() + at(row, col), right_.data() + at(from_row, from_col), 2);
  }
  void flip(std::size_t row, std::size_t col) { y_[at(row, col)] ^= std::byte{0x15}; }
  std::vector<std::string> names() { return patterns(workload_, y_); }

 private:
  std::size_t at(std::size_t row, std::size_t col) const {
    return 2 * (row * workload_.point().shape.n + col);
  }
  MatmulWorkload workload_;
  std::vector<std::byte> right_, y_;
};
using Names = std::vector<std::string>;

TEST(Diagnosis, SignOfZeroLost) {
  MatmulWorkload workload(parse("matmul_nbits:model=fp16,schedule=multicol,n=8,k=1024,pattern=vanishing"));
  std::vector<std::byte> y = workload.acceptance()[0].lo;
  std::size_t negative_zeros = 0;
  for (std::size_t i = 1; i < y.size(); i += 2) {
    if (y[i] != std::byte{0x80} || y[i - 1] != std::byte{0}) continue;
    y[i] = std::byte{0};
    ++negative_zeros;
  }
  EXPECT_EQ(negative_zeros, 6u) << "all but every fourth column";
  EXPECT_EQ(patterns(workload, y), Names{"sign of zero lost"});
  y[0] ^= std::byte{1};
  EXPECT_NE(patterns(workload, y), Names{"sign of zero lost"}) << "not +0";
  y[0] ^= std::byte{1};
  y[2 * 3 + 1] ^= std::byte{0x80};
  EXPECT_NE(patterns(workload, y), Names{"sign of zero lost"}) << "the other way round";
}

TEST(Diagnosis, StaleRowsAfterTheFirst) {
  Damaged y("m=3,n=5,k=64");
  EXPECT_EQ(y.names(), Names{}) << "nothing is damaged yet";
  for (std::size_t row = 1; row < 3; ++row)
    for (std::size_t col = 0; col < 5; ++col) y.stale(row, col);
  EXPECT_EQ(y.names(), Names{"rows 1.. stale"});
  y.flip(0, 2);
  EXPECT_EQ(y.names(), Names{}) << "row 0 is wrong too";
}

TEST(Diagnosis, RowsThatRepeatTheFirst) {
  Damaged y("schedule=tile,m=3,n=5,k=64");
  for (std::size_t row = 1; row < 3; ++row)
    for (std::size_t col = 0; col < 5; ++col) y.take(row, col, 0, col);
  EXPECT_EQ(y.names(), Names{"rows repeat row 0"});
}

TEST(Diagnosis, ShiftedColumns) {
  for (const bool up : {false, true}) {
    Damaged y("n=6,k=64");
    for (std::size_t col = up ? 0 : 1; col < (up ? 5u : 6u); ++col) y.take(0, col, 0, up ? col + 1 : col - 1);
    EXPECT_EQ(y.names(), Names{"columns shifted"});
  }
}

TEST(Diagnosis, ExchangedColumns) {
  Damaged y("m=2,n=5,k=64");
  for (std::size_t row = 0; row < 2; ++row)
    for (std::size_t col = 0; col < 4; ++col) y.take(row, col, row, col ^ 1);
  EXPECT_EQ(y.names(), Names{"columns exchanged"});
}

/// Elements 2p and 2p + 1 of eight are met by the codes of p and p + 4, or the reverse.
TEST(Diagnosis, WeightsInAnotherOrder) {
  for (const std::string schedule : {"multicol", "natural"}) {
    for (const bool interleaved : {false, true}) {
      MatmulWorkload workload(parse("matmul_nbits:model=fp16,n=5,k=96,schedule=" + schedule));
      fixture::Operands other = workload.operands();
      for (std::size_t col = 0; col < 5; ++col)
        for (std::size_t k = 0; k < 96; ++k) {
          const std::size_t p = k % 8 / 2, from = k / 8 * 8 + p + k % 2 * 4;
          fixture::set_packed_code(
              other.b, 48, 4, col, interleaved ? from : k,
              fixture::packed_code(workload.operands().b, 48, 4, col, interleaved ? k : from));
        }
      const auto y = oracle::accept(workload.point().contracts, workload.point().shape, view(other)).lo;
      EXPECT_EQ(patterns(workload, y), Names{"weights in another order"}) << schedule;
    }
  }
}

TEST(Diagnosis, ColumnsAtTheEndThatNobodyWrote) {
  Damaged y("m=2,n=6,k=64");
  for (std::size_t row = 0; row < 2; ++row)
    for (std::size_t col = 4; col < 6; ++col) y.stale(row, col);
  EXPECT_EQ(y.names(), Names{"last columns unwritten"});
  y.flip(1, 0);
  EXPECT_EQ(y.names(), Names{});
}

TEST(Diagnosis, WholeColumns) {
  Damaged y("m=3,n=6,k=64");
  for (std::size_t row = 0; row < 3; ++row) y.flip(row, 2);
  EXPECT_EQ(y.names(), Names{"whole columns wrong"});
  y.flip(1, 4);
  EXPECT_EQ(y.names(), Names{});
}

}  // namespace
}  // namespace assay::properties::matmul_nbits
