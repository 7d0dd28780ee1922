// Runs the threads of a CUDA grid on CPU fibers. One fiber is one thread of a block; a block stays on one
// worker.
//
// Stricter than hardware: lane, warp and block orders can be permuted, shared memory is poisoned before every
// block, barriers and collectives are checked, and every fault is an ExecutorError that names the places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace assay::executor {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
  std::size_t count() const { return std::size_t{x} * y * z; }
};

enum class Order : std::uint8_t { forward, reverse, seeded };

struct Options {
  Order lanes = Order::forward;       ///< order of lanes within a warp and of warps within a block
  Order blocks = Order::forward;      ///< order in which blocks start
  std::uint64_t seed = 0;             ///< for Order::seeded
  std::uint8_t shared_poison = 0xFF;  ///< every byte of shared memory before a block starts
  unsigned workers = 0;  ///< OS threads; 0: one per core. One under ThreadSanitizer and coverage.
};

struct Launch {
  std::string_view kernel;  ///< name for diagnostics
  Dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
};

/// What ran, counted by the executor itself.
struct Counts {
  std::uint64_t blocks = 0, lanes = 0, barriers = 0, collectives = 0;
};

enum class FaultKind : std::uint8_t {
  divergent_barrier,  ///< some lanes wait at one barrier or collective while others wait at a different one
  mask_mismatch,      ///< a collective's lanes disagree on mask or operation
  exited_lane_read,   ///< a shuffle or vote names a lane that exited
  non_member_lane_read,  ///< a shuffle reads a lane outside its mask
  deadlock,              ///< no lane can run and not all have exited
  out_of_bounds,         ///< access beyond a guarded buffer or shared allocation
  misaligned,            ///< access at an address that is not a multiple of its width
  bulk_copy,             ///< an mbarrier or a bulk copy used against its rules
  bad_launch,            ///< block of more than 1024 lanes, zero grid, ...
};

/// A fault of the kernel under execution. what() is one line: kernel, block, lane, kind, both places.
class ExecutorError : public std::runtime_error {
 public:
  ExecutorError(FaultKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  FaultKind kind() const { return kind_; }

 private:
  FaultKind kind_;
};

/// Runs `lane` once for every thread of the grid; inside it the words of cuda_words.hpp work. Throws
/// ExecutorError, or whatever a lane threw: of several blocks at fault, the one that comes first in block
/// order, whatever the number of workers. The state after an error: outputs are partly written, the executor
/// is usable again. The lanes abandoned by an error are not unwound (kernel code owns nothing), so a
/// destructor in a kernel does not run then.
///
/// Results, counts and errors do not depend on the number of workers, unless the kernel itself orders blocks
/// (a float atomicAdd by several blocks). Launches from several OS threads share the workers; a lane may not
/// launch.
Counts run(const Launch&, const std::function<void()>& lane, const Options& = {});

/// What Options::workers == 0 means on this machine and build.
unsigned default_workers();

/// Makes an access from a lane into [mapping_begin, mapping_end) but outside [begin, end) an out_of_bounds
/// error that names the buffer, when the page it hits is inaccessible. Any other invalid access of a lane is
/// reported against the nearest registered buffer. Under AddressSanitizer and ThreadSanitizer, which have
/// their own handlers, faults are theirs to report. Thread-safe.
void register_guarded(std::string name, const void* begin, const void* end, const void* mapping_begin,
                      const void* mapping_end);
/// `begin` as it was registered.
void unregister_guarded(const void* begin);

}  // namespace assay::executor
