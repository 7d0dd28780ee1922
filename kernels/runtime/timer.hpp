// Timing launches on a device, and what the launched kernels need of it.
//
// The protocol, the same for every contender: the caches are made cold by writing a scratch buffer of at
// least twice the size of the L2 cache; then one launch is timed between two events of the same stream. The
// launch is enqueued while the device still writes, so the latency of launching is outside the interval;
// whether it was is asked of the device each time. Contenders take turns (A, B, A, B, ...), so that a drift
// of clocks or temperature meets all of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/runtime/device.hpp"

namespace assay::kernels {

/// Something to be timed.
struct Contender {
  std::string name;               ///< for messages
  std::function<void()> enqueue;  ///< enqueues its launches on the device's default stream; waits for nothing
};

struct Samples {
  std::vector<double> microseconds;  ///< one for each run, in order
  /// Runs that the device was ready for before the host had enqueued them, in spite of repetitions behind
  /// more writing: their time may hold launch latency.
  unsigned exposed = 0;
};

/// What a launched kernel takes of a multiprocessor.
struct KernelResources {
  std::string kernel;
  int registers = 0;               ///< of each thread
  std::size_t static_shared = 0;   ///< bytes of each block
  std::size_t dynamic_shared = 0;  ///< bytes of each block, of this launch
  std::size_t spilled = 0;         ///< bytes of local memory of each thread
  int max_threads = 0;             ///< the largest block that the registers allow
  std::size_t threads = 0;         ///< of each block, of this launch
  /// Threads that the registers and the shared memory let reside on a multiprocessor in blocks of this size,
  /// as a part of those it has room for.
  double occupancy = 0;
};

class Timer {
 public:
  /// Launches are repeated for at least `warm_up` before the first run that counts, so that the clocks are
  /// up.
  explicit Timer(std::chrono::milliseconds warm_up) : warm_up_(warm_up) {}
  virtual ~Timer() = default;

  /// Times every contender `runs` times, taking turns; one result for each contender. Throws what a contender
  /// throws, and DeviceError.
  std::vector<Samples> time(std::span<const Contender>, unsigned runs);

  /// Enqueues a copy within the device's memory.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  /// Of a launch that was recorded on this device.
  virtual KernelResources resources(const LaunchRecord&) const = 0;
  virtual std::size_t l2_bytes() const = 0;
  /// Bytes written to make the caches cold.
  virtual std::size_t cold_bytes() const = 0;

 protected:
  /// Enqueues writing the scratch buffer `passes` times.
  virtual void make_cold(unsigned passes) = 0;
  /// Enqueues the events around what is timed.
  virtual void start() = 0;
  virtual void stop() = 0;
  /// Whether the device has passed start().
  virtual bool started() = 0;
  /// Waits for stop(); microseconds since start().
  virtual double elapsed() = 0;

 private:
  void warm(std::span<const Contender>);
  void sample(const Contender&, Samples&);

  std::chrono::milliseconds warm_up_;
  unsigned passes_ = 1;
};

/// The timer of a device; nullptr for cpu, whose executor has no time worth measuring this way, and for a
/// device that is absent.
std::unique_ptr<Timer> make_timer(DeviceKind);

}  // namespace assay::kernels
