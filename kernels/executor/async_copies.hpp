// The mbarriers of the block that a worker runs, and its bulk copies in flight.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/executor/async_words.hpp"

namespace assay::executor::detail {

class Worker;
struct Lane;

/// Lanes waiting for the same thing, last come first.
struct Chain {
  Lane* head = nullptr;
  Lane* tail = nullptr;
  void push(Lane&);
};

class AsyncCopies {
 public:
  static constexpr unsigned max_mbarriers = 64;   ///< in a block
  static constexpr unsigned max_in_flight = 256;  ///< loads, and stores, of a block

  explicit AsyncCopies(Worker& worker) : worker_(worker) {}

  void start_block(std::uint64_t ordinal);
  /// Completes the stores of a lane that ends.
  void end_lane(const Lane&);
  /// All lanes have come to a block barrier.
  void at_barrier() {
    if (fenced_) [[unlikely]]
      publish();
  }
  /// What a block that ended left behind, in words.
  std::optional<std::string> unfinished() const;
  struct Stuck {
    const Lane* lane;
    std::string what;
  };
  /// A lane that waits for a phase, and what that lacks.
  std::optional<Stuck> stuck() const;

  void init(Lane&, std::uint64_t& word, std::uint32_t count, Place);
  void invalidate(Lane&, std::uint64_t& word, Place);
  void arrive(Lane&, std::uint64_t& word, std::uint32_t bytes, Place);
  Fiber* wait(Lane&, std::uint64_t& word, std::uint32_t parity, Place);
  void waited(const std::uint64_t& word, std::uint32_t parity);
  void load(Lane&, std::byte* to, const TensorBox&, BoxOrigin, std::uint64_t& word, Place);
  void store(Lane&, const TensorBox&, BoxOrigin, const std::byte* from, Place);
  void store(Lane&, std::byte* to, const std::byte* from, std::uint32_t bytes, Place);
  void commit(const Lane&);
  void wait_group(Lane&, std::uint32_t groups, bool read, Place);
  void fence();

 private:
  /// PTX ISA, mbarrier: a phase completes when no arrival is pending and its transaction count is zero.
  struct Mbarrier {
    std::uint64_t* word = nullptr;  ///< nullptr: not in use
    std::uint32_t expected = 0, pending = 0;
    std::int64_t bytes = 0;  ///< still to come in this phase; negative: came before they were expected
    std::uint64_t phase = 0;
    bool visible = false;             ///< to copies: a fence came after the initialisation
    Chain waiting;                    ///< for the current phase
    std::uint64_t edges[2][32] = {};  ///< for ThreadSanitizer, as those of the block barrier
  };
  struct Load {
    bool live = false;
    std::uint64_t number = 0;  ///< in order of issue
    TensorBox box;
    BoxOrigin origin{};
    std::byte* to = nullptr;
    Mbarrier* mbarrier = nullptr;
    const Lane* lane = nullptr;
    Place place{nullptr, 0};
  };
  struct Store {
    bool live = false, read = false;
    std::uint64_t number = 0;
    std::uint32_t group = 0;
    TensorBox box;
    BoxOrigin origin{};
    const std::byte* from = nullptr;
    std::vector<std::byte> bytes;  ///< what the source held at the issue
    const Lane* lane = nullptr;
    Place place{nullptr, 0};
  };

  Mbarrier& mbarrier_at(const Lane&, const std::uint64_t& word, const char* operation, Place);
  bool is_mbarrier(const std::uint64_t& word) const;
  void* edge(Mbarrier& m, std::uint64_t phase) { return &m.edges[phase & 1][ordinal_ % 32]; }
  std::string name_of(const void* shared) const;
  void require_shared(const Lane&, const std::byte* address, std::size_t bytes, std::size_t alignment,
                      const char* operation, Place);

  bool settle(Mbarrier&, bool awaited);
  Load* next_load(const Mbarrier&);
  void deliver(Load&);
  void start_store(Lane&, const TensorBox&, BoxOrigin, const std::byte* from, Place);
  Store* first_store(const Lane&, std::uint32_t groups);
  void finish_reading(const Lane&, Store&, Place);
  void finish(Store&);

  std::byte* shadow_of(const std::byte* address, std::size_t bytes);
  void publish();

  Worker& worker_;
  std::uint64_t ordinal_ = 0, issued_ = 0;
  bool used_ = false;    ///< by this block; all below is as new when not
  bool fenced_ = false;  ///< by some lane, and not yet acted upon
  unsigned live_loads_ = 0, live_stores_ = 0;
  unsigned unseen_ = 0;  ///< mbarriers initialised since the last fence
  std::array<Mbarrier, max_mbarriers> mbarriers_;
  std::array<Load, max_in_flight> loads_;
  std::array<Store, max_in_flight> stores_;
  std::array<std::uint32_t, 1024> committed_{};  ///< groups of each lane
  /// Shared memory as copies see it: without what was written after the last fence. Made when first needed.
  std::unique_ptr<std::byte[]> shadow_;
  std::size_t shadowed_ = 0;  ///< bytes of it that are set in this block
};

}  // namespace assay::executor::detail
