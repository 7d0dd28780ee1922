#include "kernels/runtime/cpu_device.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "kernels/executor/executor.hpp"
#include "kernels/runtime/guard_zone.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define ASSAY_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASSAY_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(ASSAY_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#endif

namespace assay::kernels {
namespace {

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::size_t round_up(std::size_t n, std::size_t multiple) { return (n + multiple - 1) / multiple * multiple; }

/// Address space made inaccessible on either side. Wider than one page, so that an access off by a whole row
/// of a usual matrix is stopped as well; it costs no memory.
constexpr std::size_t fence_bytes = std::size_t{1} << 20;

/// The mapping, from low to high addresses:
///
///   fence | front zone, 1 to 2 pages | data | back zone, under 2 * alignment | fence
///
/// data begins at an odd multiple of the alignment. Both zones hold the guard pattern; under AddressSanitizer
/// they are poisoned too, which stops the access itself.
class CpuBuffer final : public DeviceBuffer {
 public:
  CpuBuffer(std::string name, std::size_t bytes, std::size_t alignment)
      : name_(std::move(name)), bytes_(bytes) {
    require_alignment(name_, alignment);
    // The least odd multiple of the alignment that holds the data: ending on a page, it begins on an odd
    // multiple.
    std::size_t span = round_up(bytes, alignment);
    if (span / alignment % 2 == 0) span += alignment;
    accessible_ = round_up(span, page_bytes()) + page_bytes();
    mapped_ = accessible_ + 2 * fence_bytes;
    void* const memory =
        mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      throw DeviceError(
          fmt::format("buffer '{}': no {} bytes of memory: {}", name_, bytes, std::strerror(errno)));
    }
    mapping_ = static_cast<std::byte*>(memory);
    if (mprotect(begin(), accessible_, PROT_READ | PROT_WRITE) != 0) {
      const int error = errno;
      munmap(mapping_, mapped_);
      throw DeviceError(
          fmt::format("buffer '{}': no {} bytes of memory: {}", name_, bytes, std::strerror(error)));
    }
    data_ = begin() + accessible_ - span;
    fill_guard_zone({begin(), data_});
    fill_guard_zone({data_ + bytes_, end()});
    poison_zones(true);
    executor::register_guarded(name_, data_, data_ + bytes_, mapping_, mapping_ + mapped_);
  }

  ~CpuBuffer() override {
    executor::unregister_guarded(data_);
    poison_zones(false);
    munmap(mapping_, mapped_);
  }

  CpuBuffer(const CpuBuffer&) = delete;
  CpuBuffer& operator=(const CpuBuffer&) = delete;

  void* data() override { return data_; }
  std::size_t bytes() const override { return bytes_; }

  void upload(std::span<const std::byte> from) override {
    require_size(name_, bytes_, from.size());
    std::copy(from.begin(), from.end(), data_);
  }

  void download(std::span<std::byte> to) const override {
    require_size(name_, bytes_, to.size());
    std::copy(data_, data_ + bytes_, to.begin());
  }

  std::optional<GuardDamage> guard_damage() const override {
    poison_zones(false);
    auto damage = find_guard_damage(name_, bytes_, {begin(), data_}, {data_ + bytes_, end()});
    poison_zones(true);
    return damage;
  }

 private:
  std::byte* begin() const { return mapping_ + fence_bytes; }
  std::byte* end() const { return begin() + accessible_; }

  void poison_zones([[maybe_unused]] bool on) const {
#if defined(ASSAY_ADDRESS_SANITIZER)
    const std::pair<std::byte*, std::byte*> zones[] = {{begin(), data_}, { data_ + bytes_, end() }};
    for (const auto& [first, last] : zones) {
      const auto size = static_cast<std::size_t>(last - first);
      on ? __asan_poison_memory_region(first, size) : __asan_unpoison_memory_region(first, size);
    }
#endif
  }

  std::string name_;
  std::size_t bytes_;
  std::size_t accessible_ = 0, mapped_ = 0;
  std::byte* mapping_ = nullptr;
  std::byte* data_ = nullptr;
};

class CpuDevice final : public Device {
 public:
  DeviceKind kind() const override { return DeviceKind::cpu; }

  std::string name() const override {
    const unsigned chosen = executor_options.workers;
    const unsigned workers = chosen ? chosen : executor::default_workers();
    return fmt::format("executor, {} worker{}", workers, workers == 1 ? "" : "s");
  }

  /// One multiprocessor, so that the sizes at which kernels change their ways are small ones.
  Capability capability() const override { return {90, 1}; }

  std::map<std::string, std::string> provenance() const override {
    return {{"device", "executor"}, {"compute_capability", "none; kernels are run as for 9.0"}};
  }

  std::unique_ptr<DeviceBuffer> allocate(std::string name, std::size_t bytes,
                                         std::size_t alignment) override {
    return std::make_unique<CpuBuffer>(std::move(name), bytes, alignment);
  }

  void synchronize() override {}  // a launch returns when it is done
};

}  // namespace

Device& cpu_device() {
  static CpuDevice device;
  return device;
}

}  // namespace assay::kernels
