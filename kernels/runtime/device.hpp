// Devices and guarded device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "kernels/executor/executor.hpp"
#include "kernels/runtime/witness.hpp"

namespace assay::kernels {

enum class DeviceKind : std::uint8_t { cpu, cuda };
std::string_view to_string(DeviceKind);

/// A launch or copy that the device refused or that failed.
class DeviceError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Where a guard zone was written: the offset is relative to the buffer (negative: before it).
struct GuardDamage {
  std::string buffer;
  std::ptrdiff_t first_offset = 0;
  std::size_t bytes = 0;
};

/// Device memory of exactly `bytes` bytes between two guard zones. On cpu the end (rounded up to an odd
/// multiple of `alignment`) also touches an inaccessible page, so that a read past it is caught too.
class DeviceBuffer {
 public:
  virtual ~DeviceBuffer() = default;
  virtual void* data() = 0;
  virtual std::size_t bytes() const = 0;
  virtual void upload(std::span<const std::byte>) = 0;    ///< exactly bytes() bytes
  virtual void download(std::span<std::byte>) const = 0;  ///< exactly bytes() bytes
  virtual std::optional<GuardDamage> guard_damage() const = 0;
};

/// What kernels are tuned by.
struct Capability {
  unsigned sm = 0;               ///< compute capability times ten: 90
  unsigned multiprocessors = 1;  ///< of the whole device
};

class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceKind kind() const = 0;
  virtual std::string name() const = 0;
  /// The cpu device has the generation that the kernels are tuned for, so that it runs the same paths.
  virtual Capability capability() const = 0;
  /// What a record of its outputs has to say of it, as the runtime reports it: device, capability and, of a
  /// GPU, the versions of the CUDA runtime and of what the driver supports. Nothing that changes from run to
  /// run.
  virtual std::map<std::string, std::string> provenance() const = 0;
  /// `alignment`: what data() is a multiple of and, exactly, no more (data() is not a multiple of
  /// 2*alignment), so that a kernel relying on more is caught. A power of two from 1 to 256. Throws
  /// DeviceError.
  virtual std::unique_ptr<DeviceBuffer> allocate(std::string name, std::size_t bytes,
                                                 std::size_t alignment) = 0;
  virtual void synchronize() = 0;  ///< throws DeviceError

  executor::Options executor_options;  ///< used by cpu launches
};

/// nullptr when this build or this machine has no such device; then why_absent says which.
Device* device(DeviceKind);
std::string why_absent(DeviceKind);

/// What a route launches through: the device, and the witness that records it.
struct LaunchContext {
  Device& device;
  Witness& witness;
};

}  // namespace assay::kernels
