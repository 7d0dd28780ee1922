// Every tuning that a table may choose gives the same bytes; which one is chosen is a matter of speed alone.
#include "kernels/mxfp8_cast/tuning.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/mxfp8_cast/cast_test_input.hpp"
#include "kernels/mxfp8_cast/kernels.hpp"

namespace assay::kernels::mxfp8_cast {
namespace {

struct Buffers {
  std::unique_ptr<DeviceBuffer> x, row_data, row_scales, column_data, column_scales;
};

/// All outputs, one after the other, of a cast that starts from 0xA5 everywhere.
std::vector<std::byte> cast(Device& on, const Problem& shape, const Tuning& tuning) {
  Problem p = shape;
  const auto data_bytes = static_cast<std::size_t>(p.rows * p.cols);
  const auto scale_bytes = [](const Output& o) {
    return static_cast<std::size_t>(o.scale_rows * o.scale_stride);
  };
  Buffers b{on.allocate("x", 2 * data_bytes, 16), on.allocate("data", data_bytes, 16),
            on.allocate("scales", scale_bytes(p.rowwise), 1), on.allocate("colwise data", data_bytes, 16),
            on.allocate("colwise scales", scale_bytes(p.colwise), 1)};
  b.x->upload(make_input(p.input, p.rows, p.cols, 0));
  const std::vector<DeviceBuffer*> outputs{b.row_data.get(), b.row_scales.get(), b.column_data.get(),
                                           b.column_scales.get()};
  for (DeviceBuffer* output : outputs)
    output->upload(std::vector<std::byte>(output->bytes(), std::byte{0xA5}));
  p.x = b.x->data();
  p.rowwise.data = static_cast<std::uint8_t*>(b.row_data->data());
  p.rowwise.scales = static_cast<std::uint8_t*>(b.row_scales->data());
  p.colwise.data = static_cast<std::uint8_t*>(b.column_data->data());
  p.colwise.scales = static_cast<std::uint8_t*>(b.column_scales->data());
  Witness witness;
  LaunchContext context{on, witness};
  const bool on_cpu = on.kind() == DeviceKind::cpu;
#if defined(ASSAY_WITH_CUDA)
  const auto rowwise =
      on_cpu ? cpu::mxfp8_cast::launch_rowwise_register : cuda::mxfp8_cast::launch_rowwise_register;
  const auto band = on_cpu ? cpu::mxfp8_cast::launch_bidimensional_register
                           : cuda::mxfp8_cast::launch_bidimensional_register;
#else
  EXPECT_TRUE(on_cpu);
  const auto rowwise = cpu::mxfp8_cast::launch_rowwise_register;
  const auto band = cpu::mxfp8_cast::launch_bidimensional_register;
#endif
  (p.direction == Direction::rowwise ? rowwise : band)(context, p, tuning);
  on.synchronize();
  std::vector<std::byte> all;
  for (DeviceBuffer* output : outputs) {
    EXPECT_FALSE(output->guard_damage());
    std::vector<std::byte> part(output->bytes());
    output->download(part);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

/// A few tiles of both kernels, the last thread blocks of the rowwise one not full; padded scales.
Problem problem(Direction direction) {
  Problem p;
  p.rows = 96;
  p.cols = 768;
  p.direction = direction;
  p.input = Input::bf16;
  p.padding = Padding::zero;
  p.rowwise = {nullptr, nullptr, 128, 27};
  p.colwise = {nullptr, nullptr, 4, 771};
  return p;
}

TEST(Tuning, NoChoiceChangesAByte) {
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda}) {
    Device* const on = device(kind);
    if (on == nullptr) continue;
    for (const Direction direction : {Direction::rowwise, Direction::colwise, Direction::bidimensional}) {
      const Problem p = problem(direction);
      const bool rowwise = direction == Direction::rowwise;
      const auto first = cast(*on, p, {rowwise ? 128u : 256u, false, false});
      EXPECT_NE(first, std::vector<std::byte>(first.size(), std::byte{0xA5}));
      for (const unsigned threads : rowwise ? std::vector<unsigned>{128, 1024} : std::vector<unsigned>{256}) {
        for (const bool evict_first : {false, true}) {
          for (const bool prefetch : {false, true}) {
            EXPECT_EQ(cast(*on, p, {threads, evict_first, prefetch}), first)
                << threads << " threads, evict_first " << evict_first << ", prefetch " << prefetch;
          }
        }
      }
    }
  }
}

TEST(Tuning, TablesHoldOnlyWhatTheKernelsAreBuiltFor) {
  for (const unsigned sm : {80u, 90u, 100u, 120u}) {
    for (int power = 5; power < 40; ++power) {
      const Capability device{sm, 132};
      const unsigned threads = rowwise_tuning(device, std::int64_t{1} << power).threads;
      EXPECT_TRUE(threads == 128 || threads == 1024);
      EXPECT_EQ(band_tuning(device, std::int64_t{1} << power).threads, 256u);
    }
  }
  EXPECT_EQ(resident_blocks({90, 132}, 128), 132u * 16);
}

TEST(Tuning, PartsDiffer) {
  const std::int64_t large = std::int64_t{1} << 30;
  EXPECT_FALSE(rowwise_tuning({90, 132}, large).prefetch);
  EXPECT_TRUE(rowwise_tuning({100, 148}, large).prefetch);
  EXPECT_TRUE(rowwise_tuning({90, 132}, 1024).evict_first);
}

}  // namespace
}  // namespace assay::kernels::mxfp8_cast
