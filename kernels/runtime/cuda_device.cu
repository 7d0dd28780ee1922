// The cuda device: memory between guard zones, and what the launch layer asks of the CUDA runtime. Host code
// only; it is a .cu file because builds without the toolkit have to leave it out.
#include "kernels/runtime/cuda_device.hpp"
#include "kernels/runtime/launch.hpp"

#if ASSAY_ON_GPU

#include <cxxabi.h>

#include <cstdlib>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/runtime/guard_zone.hpp"

namespace assay::kernels {

namespace detail {

void throw_if_failed(cudaError_t status, std::string_view what) {
  if (status == cudaSuccess) return;
  throw DeviceError(std::string(what) + ": " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) +
                    ")");
}

std::string launched_name(const void* function) {
  const char* mangled = nullptr;
  throw_if_failed(cudaFuncGetName(&mangled, function), "reading the name of the launched kernel");
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), std::free);
  return std::string(base_name(demangled ? demangled.get() : mangled));
}

}  // namespace detail

namespace {

using detail::throw_if_failed;

constexpr std::size_t zone_bytes = 4096;

class CudaBuffer final : public DeviceBuffer {
 public:
  CudaBuffer(std::string name, std::size_t bytes, std::size_t alignment)
      : name_(std::move(name)), bytes_(bytes) {
    require_alignment(name_, alignment);
    void* memory = nullptr;
    throw_if_failed(cudaMalloc(&memory, zone_bytes + 3 * alignment + bytes + zone_bytes),
                    "allocating buffer '" + name_ + "'");
    memory_.reset(static_cast<std::byte*>(memory));
    // The first odd multiple of the alignment behind a full zone.
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t even =
        (address + zone_bytes + 2 * alignment - 1) / (2 * alignment) * (2 * alignment);
    front_bytes_ = even + alignment - address;
    std::vector<std::byte> zone(front_bytes_);
    fill_guard_zone(zone);
    write(memory_.get(), zone);
    zone.resize(zone_bytes);
    fill_guard_zone(zone);
    write(begin() + bytes_, zone);
  }

  void* data() override { return begin(); }
  std::size_t bytes() const override { return bytes_; }

  void upload(std::span<const std::byte> from) override {
    require_size(name_, bytes_, from.size());
    write(begin(), from);
  }

  void download(std::span<std::byte> to) const override {
    require_size(name_, bytes_, to.size());
    read(to, begin());
  }

  std::optional<GuardDamage> guard_damage() const override {
    std::vector<std::byte> before(front_bytes_), after(zone_bytes);
    read(before, memory_.get());
    read(after, begin() + bytes_);
    return find_guard_damage(name_, bytes_, before, after);
  }

 private:
  struct Free {
    // The status is dropped: after a failed launch every call fails, and that failure is reported where it is
    // seen.
    void operator()(std::byte* memory) const { static_cast<void>(cudaFree(memory)); }
  };

  std::byte* begin() const { return memory_.get() + front_bytes_; }

  void write(std::byte* to, std::span<const std::byte> from) const {
    throw_if_failed(cudaMemcpy(to, from.data(), from.size(), cudaMemcpyHostToDevice),
                    "copying to '" + name_ + "'");
  }
  void read(std::span<std::byte> to, const std::byte* from) const {
    throw_if_failed(cudaMemcpy(to.data(), from, to.size(), cudaMemcpyDeviceToHost),
                    "copying from '" + name_ + "'");
  }

  std::string name_;
  std::size_t bytes_;
  std::size_t front_bytes_ = 0;
  std::unique_ptr<std::byte, Free> memory_;
};

class FirstCudaDevice final : public Device {
 public:
  FirstCudaDevice(std::string name, Capability capability)
      : name_(std::move(name)), capability_(capability) {}

  DeviceKind kind() const override { return DeviceKind::cuda; }
  std::string name() const override { return name_; }
  Capability capability() const override { return capability_; }

  std::map<std::string, std::string> provenance() const override {
    int runtime = 0, driver = 0;
    throw_if_failed(cudaRuntimeGetVersion(&runtime), "reading the version of the CUDA runtime");
    throw_if_failed(cudaDriverGetVersion(&driver), "reading the version of CUDA that the driver supports");
    const auto version = [](int number) {  // 1000 * major + 10 * minor
      return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
    };
    return {{"device", name_},
            {"compute_capability",
             std::to_string(capability_.sm / 10) + "." + std::to_string(capability_.sm % 10)},
            {"multiprocessors", std::to_string(capability_.multiprocessors)},
            {"cuda_runtime", version(runtime)},
            {"cuda_driver", version(driver)}};
  }

  std::unique_ptr<DeviceBuffer> allocate(std::string name, std::size_t bytes,
                                         std::size_t alignment) override {
    return std::make_unique<CudaBuffer>(std::move(name), bytes, alignment);
  }

  void synchronize() override { throw_if_failed(cudaDeviceSynchronize(), "waiting for the device"); }

 private:
  std::string name_;
  Capability capability_;
};

CudaDevice find_device() {
  int count = 0;
  cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count == 0) status = cudaErrorNoDevice;
  cudaDeviceProp properties{};
  if (status == cudaSuccess) status = cudaSetDevice(0);
  if (status == cudaSuccess) status = cudaGetDeviceProperties(&properties, 0);
  if (status != cudaSuccess) return {nullptr, std::string("no CUDA device: ") + cudaGetErrorString(status)};
  const Capability capability{static_cast<unsigned>(10 * properties.major + properties.minor),
                              static_cast<unsigned>(properties.multiProcessorCount)};
  return {std::make_unique<FirstCudaDevice>(properties.name, capability), {}};
}

}  // namespace

CudaDevice& cuda_device() {
  static CudaDevice found = find_device();
  return found;
}

}  // namespace assay::kernels

#endif  // ASSAY_ON_GPU
