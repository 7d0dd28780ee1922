// Devices, guarded buffers, launches and the witness.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/runtime/guard_zone.hpp"
#include "kernels/runtime/launch.hpp"
#include "kernels/runtime/route.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define ASSAY_ADDRESS_SANITIZER 1
#elif defined(__SANITIZE_THREAD__)
#define ASSAY_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASSAY_ADDRESS_SANITIZER 1
#elif __has_feature(thread_sanitizer)
#define ASSAY_THREAD_SANITIZER 1
#endif
#endif

namespace assay::kernels {
namespace {

Device& cpu() { return *device(DeviceKind::cpu); }

__global__ void write_byte(std::uint8_t* at) {
  if (threadIdx.x == 0) *at = 0x11;
}
template <class T>
__global__ void fill(T* to, T value, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] = value;
}

TEST(BaseName, DropsScopesArgumentsAndReturnType) {
  EXPECT_EQ(base_name("rowwise"), "rowwise");
  EXPECT_EQ(base_name("ns::rowwise_register<float, 3>"), "rowwise_register");
  EXPECT_EQ(base_name("(rowwise_register<Input::fp32, true>)"), "rowwise_register");
  EXPECT_EQ(base_name("&ns::rowwise"), "rowwise");
  EXPECT_EQ(base_name("void a::b::rowwise<(a::Input)0, (a::E)1>(a::Params)"), "rowwise");
  EXPECT_EQ(
      base_name("void a::(anonymous namespace)::rowwise<(a::Input)0>(a::(anonymous namespace)::Params)"),
      "rowwise");
  EXPECT_EQ(base_name("(anonymous namespace)::rowwise(int)"), "rowwise");
  EXPECT_EQ(base_name(""), "");
}

TEST(Witness, RecordsLaunchesAsTheyHappened) {
  Witness witness;
  LaunchContext context{cpu(), witness};
  const auto buffer = cpu().allocate("out", 400, 4);
  auto* const out = static_cast<std::uint32_t*>(buffer->data());
  ASSAY_LAUNCH(context, dim3(4), dim3(32), 0, (fill<std::uint32_t>), out, 7u, 100u);
  ASSAY_LAUNCH(context, dim3(1), dim3(64), 0, write_byte, static_cast<std::uint8_t*>(buffer->data()));
  ASSERT_EQ(witness.launches.size(), 2u);
  EXPECT_EQ(witness.launches[0].kernel, "fill");
  EXPECT_EQ(witness.launches[0].grid.x, 4u);
  EXPECT_EQ(witness.launches[0].block.x, 32u);
  EXPECT_EQ(witness.launches[1].kernel, "write_byte");
  EXPECT_EQ(witness.launches_of("fill"), 1u);
  EXPECT_EQ(witness.launches_of("other"), 0u);
  EXPECT_EQ(witness.counters.at("executor.blocks"), 5u);
  std::vector<std::uint32_t> values(100);
  buffer->download(std::as_writable_bytes(std::span(values)));
  EXPECT_EQ(values[0], 0x11u);
  EXPECT_EQ(values[99], 7u);
}

TEST(Witness, BinaryHashIsTheProgramsBuildId) {
  const std::string& hash = binary_hash();
  ASSERT_EQ(hash.size(), 40u) << hash;  // --build-id=sha1
  EXPECT_EQ(hash.find_first_not_of("0123456789abcdef"), std::string::npos) << hash;
}

TEST(Devices, CpuIsThereAndCudaSaysWhyNot) {
  ASSERT_NE(device(DeviceKind::cpu), nullptr);
  EXPECT_EQ(device(DeviceKind::cpu)->kind(), DeviceKind::cpu);
  EXPECT_EQ(why_absent(DeviceKind::cpu), "");
  EXPECT_EQ(cpu().name().substr(0, 10), "executor, ");
  if (device(DeviceKind::cuda) == nullptr) {
    const std::string why = why_absent(DeviceKind::cuda);
    EXPECT_TRUE(why == "built without the CUDA toolkit" || why.starts_with("no CUDA device: ")) << why;
  } else {
    EXPECT_EQ(why_absent(DeviceKind::cuda), "");
  }
}

TEST(Devices, NameTheWorkers) {
  cpu().executor_options.workers = 1;
  EXPECT_EQ(cpu().name(), "executor, 1 worker");
  cpu().executor_options.workers = 3;
  EXPECT_EQ(cpu().name(), "executor, 3 workers");
  cpu().executor_options.workers = 0;
}

/// Every device of this machine: what holds for one holds for the other.
std::vector<Device*> devices() {
  std::vector<Device*> present{&cpu()};
  if (Device* cuda = device(DeviceKind::cuda)) present.push_back(cuda);
  return present;
}

TEST(Buffer, IsAlignedToExactlyWhatWasAsked) {
  for (Device* device : devices()) {
    for (const std::size_t alignment : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 128u, 256u}) {
      for (const std::size_t bytes : {0u, 1u, 16u, 31u, 32u, 33u, 4095u, 4096u, 4097u, 100000u}) {
        const auto buffer = device->allocate("b", bytes, alignment);
        const auto address = reinterpret_cast<std::uintptr_t>(buffer->data());
        EXPECT_EQ(address % alignment, 0u) << bytes << " " << alignment;
        EXPECT_EQ(address % (2 * alignment), alignment) << bytes << " " << alignment;
        EXPECT_EQ(buffer->bytes(), bytes);
        EXPECT_FALSE(buffer->guard_damage());
      }
    }
  }
}

TEST(Buffer, RefusesOtherAlignmentsAndSizes) {
  for (Device* device : devices()) {
    EXPECT_THROW(device->allocate("b", 16, 0), DeviceError);
    EXPECT_THROW(device->allocate("b", 16, 3), DeviceError);
    EXPECT_THROW(device->allocate("b", 16, 512), DeviceError);
    const auto buffer = device->allocate("b", 16, 16);
    std::vector<std::byte> other(15);
    EXPECT_THROW(buffer->upload(other), DeviceError);
    EXPECT_THROW(buffer->download(other), DeviceError);
  }
}

TEST(Buffer, ReturnsWhatWasUploaded) {
  for (Device* device : devices()) {
    std::vector<std::byte> sent(1000), received(1000);
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i * 7 + 1);
    const auto buffer = device->allocate("b", sent.size(), 2);
    buffer->upload(sent);
    buffer->download(received);
    EXPECT_EQ(sent, received);
    EXPECT_FALSE(buffer->guard_damage());
  }
}

TEST(GuardZone, DamageIsFoundWhereItIs) {
  std::vector<std::byte> before(300), after(100);
  fill_guard_zone(before);
  fill_guard_zone(after);
  EXPECT_FALSE(find_guard_damage("b", 64, before, after));
  after[5] ^= std::byte{1};
  after[9] ^= std::byte{0x80};
  auto damage = find_guard_damage("b", 64, before, after);
  ASSERT_TRUE(damage);
  EXPECT_EQ(damage->buffer, "b");
  EXPECT_EQ(damage->first_offset, 69);
  EXPECT_EQ(damage->bytes, 5u);
  before[299] ^= std::byte{1};
  damage = find_guard_damage("b", 64, before, after);
  ASSERT_TRUE(damage);
  EXPECT_EQ(damage->first_offset, -1);
  EXPECT_EQ(damage->bytes, 1u);
}

TEST(GuardZone, AShiftedOrConstantZoneIsDamage) {
  std::vector<std::byte> zone(4096), shifted(4096);
  fill_guard_zone(zone);
  for (const std::size_t shift : {1u, 16u, 32u, 256u, 1024u}) {
    std::copy(zone.begin() + static_cast<std::ptrdiff_t>(shift), zone.end(), shifted.begin());
    std::copy(zone.begin(), zone.begin() + static_cast<std::ptrdiff_t>(shift),
              shifted.end() - static_cast<std::ptrdiff_t>(shift));
    EXPECT_TRUE(find_guard_damage("b", 0, shifted, {})) << shift;
  }
}

#if defined(ASSAY_ADDRESS_SANITIZER)

TEST(Buffer, AWriteBesideItStopsTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Witness witness;
  LaunchContext context{cpu(), witness};
  const auto buffer = cpu().allocate("victim", 33, 16);
  auto* const data = static_cast<std::uint8_t*>(buffer->data());
  for (const std::ptrdiff_t offset : {-1, -4000, 33}) {
    EXPECT_DEATH(ASSAY_LAUNCH(context, dim3(1), dim3(32), 0, write_byte, data + offset), "use-after-poison");
  }
  ASSAY_LAUNCH(context, dim3(1), dim3(32), 0, write_byte, data + 32);
  EXPECT_FALSE(buffer->guard_damage());
}

#elif !defined( \
    ASSAY_THREAD_SANITIZER)  // which has a handler of its own for an access to an inaccessible page

__global__ void read_byte(const std::uint8_t* at, std::uint8_t* to) {
  if (threadIdx.x == 0) *to = *at;
}

TEST(Buffer, AWriteBesideItIsSeenAfterwards) {
  Witness witness;
  for (const std::ptrdiff_t offset : {-1, -4000, 33}) {
    LaunchContext context{cpu(), witness};
    const auto buffer = cpu().allocate("victim", 33, 16);  // ends 15 bytes before the page does
    ASSAY_LAUNCH(context, dim3(1), dim3(32), 0, write_byte,
                 static_cast<std::uint8_t*>(buffer->data()) + offset);
    const auto damage = buffer->guard_damage();
    ASSERT_TRUE(damage) << offset;
    EXPECT_EQ(damage->buffer, "victim");
    EXPECT_EQ(damage->first_offset, offset);
    EXPECT_EQ(damage->bytes, 1u);
  }
}

void expect_out_of_bounds(const std::string& buffer, const std::function<void()>& launch) {
  try {
    launch();
    ADD_FAILURE() << "the access was not stopped";
  } catch (const executor::ExecutorError& error) {
    EXPECT_EQ(error.kind(), executor::FaultKind::out_of_bounds) << error.what();
    EXPECT_NE(std::string(error.what()).find(buffer), std::string::npos) << error.what();
  }
}

TEST(Buffer, AnAccessPastItsEndIsStopped) {
  Witness witness;
  LaunchContext context{cpu(), witness};
  const auto buffer = cpu().allocate("victim", 48, 16);  // an odd multiple of 16: ends with the page
  const auto other = cpu().allocate("other", 16, 16);
  auto* const data = static_cast<std::uint8_t*>(buffer->data());
  auto* const to = static_cast<std::uint8_t*>(other->data());
  for (const std::size_t past : {0u, 1u, 4096u, 1000000u}) {
    expect_out_of_bounds("victim", [&] {
      ASSAY_LAUNCH(context, dim3(1), dim3(32), 0, read_byte,
                   static_cast<const std::uint8_t*>(data + 48 + past), to);
    });
    expect_out_of_bounds("victim",
                         [&] { ASSAY_LAUNCH(context, dim3(1), dim3(32), 0, write_byte, data + 48 + past); });
  }
  expect_out_of_bounds("victim",
                       [&] { ASSAY_LAUNCH(context, dim3(1), dim3(32), 0, write_byte, data - 16384); });
  // The last byte itself is fine, and the executor still works after a fault.
  ASSAY_LAUNCH(context, dim3(1), dim3(32), 0, read_byte, static_cast<const std::uint8_t*>(data + 47), to);
  EXPECT_FALSE(buffer->guard_damage());
}

#endif

}  // namespace
}  // namespace assay::kernels
