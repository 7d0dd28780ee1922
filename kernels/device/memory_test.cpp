// Wide accesses on the executor. That they move the right bytes is the probes' matter (twin_probe_test.cpp).
#include "kernels/device/memory.hpp"

#include <gtest/gtest.h>

#include <string>

#include "kernels/runtime/launch.hpp"

namespace assay::kernels::cpu {
namespace {

template <class T>
__global__ void copy(const std::byte* from, std::byte* to) {
  if (threadIdx.x != 5) return;
  if constexpr (sizeof(T) == 2) {
    store_as(to, static_cast<std::uint16_t>(load_nc_16(from, evict_first_policy())));
  }
  if constexpr (sizeof(T) == 8) store_64(to, load_nc_64(from, evict_first_policy()), evict_normal_policy());
  if constexpr (sizeof(T) == 16)
    store_128(to, load_nc_128(from, evict_first_policy()), evict_normal_policy());
  if constexpr (sizeof(T) == 32) store_as(to, load_nc_256(from, evict_first_policy()));
}

template <class T>
void expect_misaligned(std::size_t from, std::size_t to, const std::string& said) {
  Device& cpu = *device(DeviceKind::cpu);
  Witness witness;
  LaunchContext context{cpu, witness};
  const auto buffer = cpu.allocate("b", 256, 256);
  auto* const data = static_cast<std::byte*>(buffer->data());
  try {
    ASSAY_LAUNCH(context, dim3(1), dim3(32), 0, copy<T>, data + from, data + 128 + to);
    ADD_FAILURE() << "not stopped: " << from << " " << to;
  } catch (const executor::ExecutorError& error) {
    EXPECT_EQ(error.kind(), executor::FaultKind::misaligned);
    EXPECT_EQ(std::string(error.what()), said);
  }
}

TEST(Memory, MisalignedAccessesAreStopped) {
  const std::string where = "block (0, 0, 0), lane (5, 0, 0): misaligned access: it needs a multiple of ";
  expect_misaligned<std::uint16_t>(3, 0, where + "2 bytes and is at one of 1");
  expect_misaligned<std::uint16_t>(0, 1, where + "2 bytes and is at one of 1");
  expect_misaligned<Bits64>(4, 0, where + "8 bytes and is at one of 4");
  expect_misaligned<Bits64>(0, 4, where + "8 bytes and is at one of 4");
  expect_misaligned<Bits128>(8, 0, where + "16 bytes and is at one of 8");
  expect_misaligned<Bits128>(0, 8, where + "16 bytes and is at one of 8");
  expect_misaligned<Bits256>(16, 0, where + "32 bytes and is at one of 16");
}

TEST(Memory, AlignedAccessesAreNot) {
  Device& cpu = *device(DeviceKind::cpu);
  Witness witness;
  LaunchContext context{cpu, witness};
  const auto buffer = cpu.allocate("b", 256, 256);
  auto* const data = static_cast<std::byte*>(buffer->data());
  EXPECT_NO_THROW(ASSAY_LAUNCH(context, dim3(1), dim3(32), 0, copy<std::uint16_t>, data + 2, data + 130));
  EXPECT_NO_THROW(ASSAY_LAUNCH(context, dim3(1), dim3(32), 0, copy<Bits64>, data + 8, data + 136));
  EXPECT_NO_THROW(ASSAY_LAUNCH(context, dim3(1), dim3(32), 0, copy<Bits128>, data + 16, data + 144));
  EXPECT_NO_THROW(ASSAY_LAUNCH(context, dim3(1), dim3(32), 0, copy<Bits256>, data + 32, data + 132));
}

}  // namespace
}  // namespace assay::kernels::cpu
