// Events, cold caches and kernel attributes from the CUDA runtime. Host code only; it is a .cu file because
// builds without the toolkit have to leave it out.
#include "kernels/runtime/cuda_timer.hpp"
#include "kernels/runtime/launch.hpp"

#if ASSAY_ON_GPU

#include <cassert>
#include <type_traits>

namespace assay::kernels {
namespace {

using detail::throw_if_failed;

int attribute(cudaDeviceAttr which, const char* what) {
  int value = 0;
  throw_if_failed(cudaDeviceGetAttribute(&value, which, 0), what);
  return value;
}

struct Free {
  // The statuses are dropped: after a failed launch every call fails, and that failure is reported where it
  // is seen.
  void operator()(void* memory) const { static_cast<void>(cudaFree(memory)); }
  void operator()(cudaEvent_t event) const { static_cast<void>(cudaEventDestroy(event)); }
};
using Memory = std::unique_ptr<void, Free>;
using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Free>;

Event make_event() {
  cudaEvent_t event = nullptr;
  throw_if_failed(cudaEventCreate(&event), "creating an event");
  return Event(event);
}

/// Everything is enqueued on the default stream, which is where ASSAY_LAUNCH launches.
class CudaTimer final : public Timer {
 public:
  CudaTimer()
      : Timer(std::chrono::milliseconds(300)),
        l2_bytes_(
            static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize, "reading the size of the L2 cache"))),
        max_resident_(
            attribute(cudaDevAttrMaxThreadsPerMultiProcessor, "reading the threads of a multiprocessor")),
        start_(make_event()),
        stop_(make_event()) {
    if (l2_bytes_ == 0) throw DeviceError("the device does not tell the size of its L2 cache");
    void* memory = nullptr;
    throw_if_failed(cudaMalloc(&memory, cold_bytes()), "allocating what makes the caches cold");
    scratch_.reset(memory);
  }

  void copy(void* to, const void* from, std::size_t bytes) override {
    throw_if_failed(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, nullptr),
                    "copying on the device");
  }

  KernelResources resources(const LaunchRecord& launch) const override {
    assert(launch.function != nullptr);
    cudaFuncAttributes attributes{};
    throw_if_failed(cudaFuncGetAttributes(&attributes, launch.function), "reading what a kernel needs");
    const std::size_t threads = launch.block.count();
    int blocks = 0;
    throw_if_failed(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                        &blocks, launch.function, static_cast<int>(threads), launch.dynamic_shared_bytes),
                    "computing the occupancy of a kernel");
    KernelResources resources;
    resources.kernel = launch.kernel;
    resources.registers = attributes.numRegs;
    resources.static_shared = attributes.sharedSizeBytes;
    resources.dynamic_shared = launch.dynamic_shared_bytes;
    resources.spilled = attributes.localSizeBytes;
    resources.max_threads = attributes.maxThreadsPerBlock;
    resources.threads = threads;
    const std::size_t whole_warps = (threads + 31) / 32 * 32;
    resources.occupancy = static_cast<double>(whole_warps) * blocks / max_resident_;
    return resources;
  }

  std::size_t l2_bytes() const override { return l2_bytes_; }
  std::size_t cold_bytes() const override { return 2 * l2_bytes_; }

 protected:
  void make_cold(unsigned passes) override {
    for (unsigned pass = 0; pass < passes; ++pass) {
      throw_if_failed(cudaMemsetAsync(scratch_.get(), static_cast<int>(pass), cold_bytes(), nullptr),
                      "making the caches cold");
    }
  }
  void start() override { throw_if_failed(cudaEventRecord(start_.get(), nullptr), "recording an event"); }
  void stop() override { throw_if_failed(cudaEventRecord(stop_.get(), nullptr), "recording an event"); }

  bool started() override {
    const cudaError_t status = cudaEventQuery(start_.get());
    if (status == cudaErrorNotReady) {
      static_cast<void>(
          cudaGetLastError());  // it stays as the last error, which the next launch would take for its own
      return false;
    }
    throw_if_failed(status, "asking for an event");
    return true;
  }

  double elapsed() override {
    throw_if_failed(cudaEventSynchronize(stop_.get()), "waiting for a timed launch");
    float milliseconds = 0;
    throw_if_failed(cudaEventElapsedTime(&milliseconds, start_.get(), stop_.get()),
                    "reading the time of a launch");
    return 1e3 * static_cast<double>(milliseconds);
  }

 private:
  std::size_t l2_bytes_;
  int max_resident_;  ///< threads of a multiprocessor
  Memory scratch_;
  Event start_, stop_;
};

}  // namespace

std::unique_ptr<Timer> cuda_timer() { return std::make_unique<CudaTimer>(); }

}  // namespace assay::kernels

#endif  // ASSAY_ON_GPU
