#include "kernels/runtime/tensor_map.hpp"

#include <gtest/gtest.h>

#include <string>

#include "kernels/runtime/device.hpp"

namespace assay::kernels::cpu {
namespace {

TEST(TensorMap, RefusesWhatTheHardwareCannotDescribe) {
  alignas(64) static std::byte memory[64];
  const MatrixView good{"m", memory, 4, 64, 128, 2};
  EXPECT_NO_THROW(make_tensor_map_2d(good, 256, 8));
  const auto refused = [&](const std::string& said, const auto& change, unsigned box_r = 8,
                           unsigned box_c = 8) {
    MatrixView m = good;
    change(m);
    try {
      make_tensor_map_2d(m, box_r, box_c);
      ADD_FAILURE() << "accepted: " << said;
    } catch (const DeviceError& error) {
      EXPECT_EQ(std::string(error.what()), "tensor map of 'm': " + said);
    }
  };
  const auto same = [](MatrixView&) {};
  refused("the base is not 16-byte aligned", [](MatrixView& m) { m.base = memory + 8; });
  refused("the row stride is not a multiple of 16 bytes", [](MatrixView& m) { m.row_stride = 136; });
  refused("the row stride is less than a row", [](MatrixView& m) { m.row_stride = 112; });
  refused("an extent is not from 1 to 2^31 - 1", [](MatrixView& m) { m.rows = 0; });
  refused("an extent is not from 1 to 2^31 - 1", [](MatrixView& m) { m.rows = std::int64_t{1} << 31; });
  refused("the row stride is 2^40 bytes or more",
          [](MatrixView& m) { m.row_stride = std::int64_t{1} << 40; });
  refused("elements are not of 1, 2 or 4 bytes", [](MatrixView& m) { m.element_bytes = 3; });
  refused("an extent of the box is not from 1 to 256", same, 257, 8);
  refused("an extent of the box is not from 1 to 256", same, 8, 264);
  refused("an extent of the box is not from 1 to 256", same, 0, 8);
  refused("a row of the box is not a multiple of 16 bytes", same, 8, 12);
}

}  // namespace
}  // namespace assay::kernels::cpu
