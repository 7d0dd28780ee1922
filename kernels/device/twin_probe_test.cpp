// The probes themselves, on the executor: a gate that compared nothing would pass on a GPU as well.
#include "kernels/device/twin_probe.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace assay::kernels {
namespace {

std::vector<std::uint32_t> outputs(const WrapperProbe& probe, WrapperProbe::Run run, std::uint64_t first,
                                   std::uint32_t count, Witness& witness) {
  Device& cpu = *device(DeviceKind::cpu);
  LaunchContext context{cpu, witness};
  const auto width = static_cast<std::size_t>(probe.output_bits) / 8;
  std::vector<std::byte> bytes(count * width, std::byte{0xA5});
  const auto buffer = cpu.allocate("out", bytes.size(), 16);
  buffer->upload(bytes);
  run(context, first, count, *buffer);
  cpu.synchronize();
  EXPECT_FALSE(buffer->guard_damage()) << probe.name;
  buffer->download(bytes);
  std::vector<std::uint32_t> values(count);
  for (std::uint32_t i = 0; i < count; ++i) std::memcpy(&values[i], bytes.data() + i * width, width);
  return values;
}

TEST(TwinProbe, EveryProbeRunsItsWrapperAndItsTwin) {
  for (const WrapperProbe& probe : wrapper_probes(DeviceKind::cpu)) {
    const std::uint32_t count = 4096;
    for (const std::uint64_t first : {std::uint64_t{0}, probe.domain / 2, probe.domain - count}) {
      Witness instruction, twin;
      const auto by_instruction = outputs(probe, probe.run_instruction, first, count, instruction);
      const auto by_twin = outputs(probe, probe.run_twin, first, count, twin);
      std::uint64_t launches = 0;
      for (const auto* kernel : {"probe_instruction", "probe_access", "probe_bulk_load", "probe_bulk_store",
                                 "probe_bulk_store_1d", "probe_mma"}) {
        launches += instruction.launches_of(kernel);
      }
      EXPECT_EQ(launches, 1u);
      EXPECT_EQ(twin.launches_of("probe_twin"), 1u);
      for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t expected = probe.host_twin(static_cast<std::uint32_t>(first + i));
        ASSERT_EQ(by_instruction[i], expected) << probe.name << " input " << first + i;
        ASSERT_EQ(by_twin[i], expected) << probe.name << " input " << first + i;
      }
    }
  }
}

TEST(TwinProbe, OutputsVary) {
  // A probe whose operands do not depend on its input would compare one value 2^24 times.
  for (const WrapperProbe& probe : wrapper_probes(DeviceKind::cpu)) {
    std::set<std::uint32_t> distinct;
    for (std::uint64_t i = 0; i < 65536; ++i) {
      distinct.insert(probe.host_twin(static_cast<std::uint32_t>(i * (probe.domain / 65536))));
    }
    EXPECT_GT(distinct.size(), 100u) << probe.name;
  }
}

TEST(TwinProbe, NamesAreDistinct) {
  std::set<std::string_view> names;
  for (const WrapperProbe& probe : wrapper_probes(DeviceKind::cpu))
    EXPECT_TRUE(names.insert(probe.name).second);
  EXPECT_GE(names.size(), 40u);
}

TEST(TwinProbe, RefusesABufferThatIsTooSmall) {
  Device& cpu = *device(DeviceKind::cpu);
  Witness witness;
  LaunchContext context{cpu, witness};
  const auto buffer = cpu.allocate("out", 64, 16);
  const WrapperProbe& probe = wrapper_probes(DeviceKind::cpu).front();
  EXPECT_THROW(probe.run_instruction(context, 0, 33, *buffer), DeviceError);
  EXPECT_TRUE(witness.launches.empty());
}

}  // namespace
}  // namespace assay::kernels
