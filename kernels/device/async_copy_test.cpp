// Copies into shared memory on the executor: when the bytes are there, and what is stopped. On a GPU they are
// tested by the kernels that use them.
#include "kernels/device/async_copy.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/runtime/launch.hpp"

namespace assay::kernels::cpu {
namespace {

using Staged = Bits128[32][2];

/// Two copies a lane; what the lane sees before and after it waits, and what its neighbour staged.
__global__ void stage(const Bits128* from, Bits128* before, Bits128* after, Bits128* of_neighbour) {
  ASSAY_SHARED(Staged, staged);
  const unsigned lane = threadIdx.x;
  AsyncCopies<2> copies;
  for (unsigned i = 0; i < 2; ++i) copies.start(&staged[lane][i], from + lane * 2 + i);
  before[lane] = staged[lane][1];
  copies.wait();
  after[lane] = staged[lane][1];
  __syncwarp();
  of_neighbour[lane] = staged[lane ^ 1][0];
}

TEST(AsyncCopies, ArriveWhenTheLaneWaits) {
  Device& cpu = *device(DeviceKind::cpu);
  Witness witness;
  LaunchContext context{cpu, witness};
  std::vector<Bits128> from(64), before(32), after(32), of_neighbour(32);
  for (std::uint32_t i = 0; i < 64; ++i) from[i] = {{i, i + 100, i + 200, i + 300}};
  ASSAY_LAUNCH(context, dim3(1), dim3(32), 0, stage, from.data(), before.data(), after.data(),
               of_neighbour.data());
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    for (std::uint32_t word = 0; word < 4; ++word) {
      EXPECT_EQ(before[lane].word[word], 0xFFFFFFFFu);
      EXPECT_EQ(after[lane].word[word], lane * 2 + 1 + word * 100);
      EXPECT_EQ(of_neighbour[lane].word[word], (lane ^ 1) * 2 + word * 100);
    }
  }
}

__global__ void misaligned(const std::byte* from, unsigned shared_offset) {
  ASSAY_SHARED(Staged, staged);
  AsyncCopies<1> copies;
  copies.start(reinterpret_cast<std::byte*>(&staged[0][0]) + shared_offset, from);
}

TEST(AsyncCopies, MisalignedOnesAreStopped) {
  Device& cpu = *device(DeviceKind::cpu);
  Witness witness;
  LaunchContext context{cpu, witness};
  const auto buffer = cpu.allocate("b", 64, 16);
  auto* const data = static_cast<std::byte*>(buffer->data());
  EXPECT_NO_THROW(ASSAY_LAUNCH(context, dim3(1), dim3(1), 0, misaligned, data, 0u));
  for (const auto& [global, shared] : std::vector<std::pair<unsigned, unsigned>>{{8, 0}, {0, 8}}) {
    try {
      ASSAY_LAUNCH(context, dim3(1), dim3(1), 0, misaligned, data + global, shared);
      ADD_FAILURE() << "not stopped: " << global << " " << shared;
    } catch (const executor::ExecutorError& error) {
      EXPECT_EQ(error.kind(), executor::FaultKind::misaligned);
    }
  }
}

}  // namespace
}  // namespace assay::kernels::cpu
