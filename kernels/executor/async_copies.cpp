#include "kernels/executor/async_copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "kernels/executor/permutation.hpp"
#include "kernels/executor/worker.hpp"

namespace assay::executor::detail {
namespace {

/// What an mbarrier's word holds here: its number, under bits that nothing else writes. Opaque on the GPU.
constexpr std::uint64_t mark = 0xB455'1E57'C0DE'0000u;
constexpr std::uint64_t number_bits = 0xFFFFu;

constexpr std::uint32_t most_arrivals = (1u << 20) - 1;  // PTX ISA, "Contents of the mbarrier object"
constexpr std::int64_t most_bytes = (1 << 20) - 1;
constexpr std::size_t box_alignment = 128;  ///< in shared memory
/// PTX ISA, cp.async.bulk: of both addresses, and what the size is a multiple of.
constexpr std::size_t row_alignment = 16;

std::string at(Place place) { return fmt::format("{}:{}", place.file, place.line); }

/// Calls move(offset in the box, address in global memory, bytes) for every row of the box, as far as it lies
/// within the matrix.
template <class Move>
void for_inside(const TensorBox& box, BoxOrigin origin, const Move& move) {
  const std::int64_t first = std::max<std::int64_t>(origin.col, 0);
  const std::int64_t last = std::min<std::int64_t>(std::int64_t{origin.col} + box.box_cols, box.cols);
  if (first >= last) return;
  for (std::uint32_t i = 0; i < box.box_rows; ++i) {
    const std::int64_t row = std::int64_t{origin.row} + i;
    if (row < 0 || row >= box.rows) continue;
    move(std::size_t{i} * box.box_row_bytes() +
             static_cast<std::size_t>((first - origin.col) * box.element_bytes),
         box.base + row * box.row_stride + first * box.element_bytes,
         static_cast<std::size_t>((last - first) * box.element_bytes));
  }
}

bool all_bytes_are(const std::byte* p, std::size_t n, std::byte value) {
  return n == 0 || (p[0] == value && std::memcmp(p, p + 1, n - 1) == 0);
}

template <class Slots>
auto* free_slot(Slots& slots) {
  const auto slot = std::find_if(slots.begin(), slots.end(), [](const auto& s) { return !s.live; });
  return slot == slots.end() ? nullptr : &*slot;
}

}  // namespace

void AsyncCopies::start_block(std::uint64_t ordinal) {
  ordinal_ = ordinal;
  if (!used_) return;
  used_ = fenced_ = false;
  issued_ = 0;
  live_loads_ = live_stores_ = unseen_ = 0;
  for (Mbarrier& m : mbarriers_) {
    m.word = nullptr;
    m.waiting = {};
  }
  for (Load& load : loads_) load.live = false;
  for (Store& store : stores_) store.live = false;
  committed_.fill(0);
  shadowed_ = 0;
}

// ---- faults --------------------------------------------------------------------------------------

std::string AsyncCopies::name_of(const void* shared) const {
  return worker_.arena().describe(static_cast<const std::byte*>(shared));
}

bool AsyncCopies::is_mbarrier(const std::uint64_t& word) const {
  const std::uint64_t number = word & number_bits;
  return (word & ~number_bits) == mark && number < max_mbarriers && mbarriers_[number].word == &word;
}

AsyncCopies::Mbarrier& AsyncCopies::mbarrier_at(const Lane& lane, const std::uint64_t& word,
                                                const char* operation, Place place) {
  if (is_mbarrier(word)) [[likely]]
    return mbarriers_[word & number_bits];
  std::string what = fmt::format("{} at {}: {} is no mbarrier: not initialised, invalidated or overwritten",
                                 operation, at(place), name_of(&word));
  worker_.fail(FaultKind::bulk_copy, &lane, std::move(what));
}

void AsyncCopies::require_shared(const Lane& lane, const std::byte* address, std::size_t bytes,
                                 std::size_t alignment, const char* operation, Place place) {
  if (!worker_.arena().contains(address, bytes)) {
    std::string what = fmt::format("{} at {}: {} bytes from {} are not within one shared variable", operation,
                                   at(place), bytes, name_of(address));
    worker_.fail(FaultKind::out_of_bounds, &lane, std::move(what));
  }
  if (reinterpret_cast<std::uintptr_t>(address) % alignment != 0) {
    std::string what = fmt::format("{} at {}: {} is not a multiple of {} bytes", operation, at(place),
                                   name_of(address), alignment);
    worker_.fail(FaultKind::misaligned, &lane, std::move(what));
  }
}

std::optional<std::string> AsyncCopies::unfinished() const {
  if (live_loads_ == 0) return std::nullopt;
  const auto load = std::find_if(loads_.begin(), loads_.end(), [](const Load& l) { return l.live; });
  return fmt::format(
      "the block ended before anybody waited for the bulk load that lane ({},{},{}) issued at {}",
      load->lane->index.x, load->lane->index.y, load->lane->index.z, at(load->place));
}

std::optional<AsyncCopies::Stuck> AsyncCopies::stuck() const {
  if (!used_) return std::nullopt;
  for (const Mbarrier& m : mbarriers_) {
    if (m.word == nullptr || m.waiting.head == nullptr) continue;
    const Lane& lane = *m.waiting.tail;
    const std::string bytes = m.bytes < 0 ? fmt::format("{} bytes more than expected came", -m.bytes)
                                          : fmt::format("{} bytes are missing", m.bytes);
    return Stuck{&lane, fmt::format("deadlock: it waits at {} for phase {} of mbarrier {}, where {} of {} "
                                    "arrivals are missing and {}",
                                    at(lane.last()), m.phase, name_of(m.word), m.pending, m.expected, bytes)};
  }
  return std::nullopt;
}

// ---- mbarriers -----------------------------------------------------------------------------------

void AsyncCopies::init(Lane& lane, std::uint64_t& word, std::uint32_t count, Place place) {
  used_ = true;
  auto* const slot =
      std::find_if(mbarriers_.begin(), mbarriers_.end(), [](const Mbarrier& m) { return m.word == nullptr; });
  std::string why;
  if (!worker_.arena().contains(reinterpret_cast<const std::byte*>(&word), sizeof word)) {
    why = name_of(&word) + " is not in shared memory";
  } else if (is_mbarrier(word)) {
    why = name_of(&word) + " already is an mbarrier";
  } else if (count == 0 || count > most_arrivals) {
    why = fmt::format("{} arrivals; from 1 to {}", count, most_arrivals);
  } else if (slot == mbarriers_.end()) {
    why = fmt::format("more than {} mbarriers in a block", max_mbarriers);
  }
  if (!why.empty()) {
    why = fmt::format("mbarrier.init at {}: {}", at(place), why);
    worker_.fail(FaultKind::bulk_copy, &lane, std::move(why));
  }
  ++unseen_;
  slot->word = &word;
  slot->expected = slot->pending = count;
  slot->bytes = 0;
  slot->phase = 0;
  slot->visible = false;
  slot->waiting = {};
  word = mark | static_cast<std::uint64_t>(slot - mbarriers_.begin());
}

void AsyncCopies::invalidate(Lane& lane, std::uint64_t& word, Place place) {
  Mbarrier& m = mbarrier_at(lane, word, "mbarrier.inval", place);
  if (m.waiting.head != nullptr) {
    std::string what = fmt::format("mbarrier.inval at {}: lanes wait for {}", at(place), name_of(&word));
    worker_.fail(FaultKind::bulk_copy, &lane, std::move(what));
  }
  m.word = nullptr;
  word = 0;
}

void AsyncCopies::arrive(Lane& lane, std::uint64_t& word, std::uint32_t bytes, Place place) {
  Mbarrier& m = mbarrier_at(lane, word, "mbarrier.arrive", place);
  if (m.pending == 0) {
    std::string what = fmt::format(
        "mbarrier.arrive at {}: one arrival too many: phase {} of {} has all {} and waits "
        "for bytes",
        at(place), m.phase, name_of(&word), m.expected);
    worker_.fail(FaultKind::bulk_copy, &lane, std::move(what));
  }
  m.bytes += bytes;
  if (m.bytes > most_bytes) {
    std::string what = fmt::format("mbarrier.arrive at {}: a phase of {} expects {} bytes; at most {}",
                                   at(place), name_of(&word), m.bytes, most_bytes);
    worker_.fail(FaultKind::bulk_copy, &lane, std::move(what));
  }
  --m.pending;
  happens_before(edge(m, m.phase));
  settle(m, m.waiting.head != nullptr);
}

Fiber* AsyncCopies::wait(Lane& lane, std::uint64_t& word, std::uint32_t parity, Place place) {
  Mbarrier& m = mbarrier_at(lane, word, "mbarrier.try_wait", place);
  lane.reached(place);
  if ((m.phase & 1) != parity || settle(m, true)) return nullptr;
  lane.joined = nullptr;
  m.waiting.push(lane);
  return worker_.suspend();
}

void AsyncCopies::waited(const std::uint64_t& word, std::uint32_t parity) {
  if (is_mbarrier(word)) happens_after(edge(mbarriers_[word & number_bits], parity));
}

/// Completes the current phase if nothing is missing; when lanes wait for it, its loads come now. Says
/// whether it did.
bool AsyncCopies::settle(Mbarrier& m, bool awaited) {
  while (m.pending == 0) {
    if (m.bytes == 0) {
      ++m.phase;
      m.pending = m.expected;
      if (m.waiting.head != nullptr) worker_.make_ready(m.waiting);
      return true;
    }
    Load* const load = awaited ? next_load(m) : nullptr;
    if (load == nullptr) return false;
    deliver(*load);
    m.bytes -= load->box.box_bytes();
  }
  return false;
}

// ---- loads ---------------------------------------------------------------------------------------

void AsyncCopies::load(Lane& lane, std::byte* to, const TensorBox& box, BoxOrigin origin, std::uint64_t& word,
                       Place place) {
  used_ = true;
  require_shared(lane, to, box.box_bytes(), box_alignment, "bulk load", place);
  Mbarrier& m = mbarrier_at(lane, word, "bulk load", place);
  if (!m.visible) {
    std::string what = fmt::format("bulk load at {}: no fence.proxy.async since mbarrier {} was initialised",
                                   at(place), name_of(&word));
    worker_.fail(FaultKind::bulk_copy, &lane, std::move(what));
  }
  Load* const slot = free_slot(loads_);
  if (slot == nullptr) {
    std::string what = fmt::format("bulk load at {}: more than {} in flight", at(place), max_in_flight);
    worker_.fail(FaultKind::bulk_copy, &lane, std::move(what));
  }
  *slot = {true, ++issued_, box, origin, to, &m, &lane, place};
  ++live_loads_;
  std::memset(to, worker_.arena().poison(), box.box_bytes());
  happens_before(edge(m, m.phase));
  if (m.waiting.head != nullptr) settle(m, true);
}

/// Loads are not ordered among themselves: the order of lanes decides.
AsyncCopies::Load* AsyncCopies::next_load(const Mbarrier& m) {
  Load* chosen = nullptr;
  const Options& options = worker_.options();
  for (Load& load : loads_) {
    if (!load.live || load.mbarrier != &m) continue;
    const auto rank = [&](const Load& l) {
      if (options.lanes == Order::forward) return l.number;
      return options.lanes == Order::reverse ? ~l.number : mix(options.seed ^ mix(ordinal_) ^ l.number);
    };
    if (chosen == nullptr || rank(load) < rank(*chosen)) chosen = &load;
  }
  return chosen;
}

void AsyncCopies::deliver(Load& load) {
  Mbarrier& m = *load.mbarrier;
  happens_after(edge(m, m.phase));
  const std::size_t bytes = load.box.box_bytes();
  load.live = false;
  --live_loads_;
  if (!all_bytes_are(load.to, bytes, static_cast<std::byte>(worker_.arena().poison()))) {
    std::string what = fmt::format("{} was written while the bulk load issued at {} was in flight",
                                   name_of(load.to), at(load.place));
    worker_.fail(FaultKind::bulk_copy, load.lane, std::move(what));
  }
  std::memset(load.to, 0, bytes);
  for_inside(load.box, load.origin, [&](std::size_t offset, const std::byte* from, std::size_t n) {
    std::memcpy(load.to + offset, from, n);
  });
  ignore_accesses_begin();
  std::memcpy(shadow_of(load.to, bytes), load.to, bytes);
  ignore_accesses_end();
  happens_before(edge(m, m.phase));
}

// ---- stores --------------------------------------------------------------------------------------

void AsyncCopies::fence() {
  used_ = true;
  fenced_ = true;
  if (unseen_ == 0) return;
  unseen_ = 0;
  for (Mbarrier& m : mbarriers_) m.visible = m.word != nullptr;
}

/// The place in the shadow that stands for shared memory at `address`. What was not shown to copies yet is
/// poison, as the block found it.
std::byte* AsyncCopies::shadow_of(const std::byte* address, std::size_t bytes) {
  if (shadow_ == nullptr) shadow_.reset(new std::byte[SharedArena::arena_bytes]);
  const std::size_t begin = worker_.arena().offset_of(address);
  if (begin + bytes > shadowed_) {
    std::memset(shadow_.get() + shadowed_, worker_.arena().poison(), begin + bytes - shadowed_);
    shadowed_ = begin + bytes;
  }
  return shadow_.get() + begin;
}

/// Shows copies what lanes have written. Generous: a fence by one lane counts for all, and for what is
/// written up to the next block barrier or store.
void AsyncCopies::publish() {
  fenced_ = false;
  ignore_accesses_begin();  // lanes may be writing elsewhere, which is no race of theirs
  worker_.arena().for_each_variable(
      [&](const std::byte* begin, std::size_t bytes) { std::memcpy(shadow_of(begin, bytes), begin, bytes); });
  ignore_accesses_end();
}

void AsyncCopies::store(Lane& lane, const TensorBox& box, BoxOrigin origin, const std::byte* from,
                        Place place) {
  require_shared(lane, from, box.box_bytes(), box_alignment, "bulk store", place);
  if (origin.row < 0 || origin.col < 0) {
    std::string what = fmt::format(
        "bulk store at {}: its box begins at ({}, {}); a store must not begin before "
        "the matrix, as a load may",
        at(place), origin.row, origin.col);
    worker_.fail(FaultKind::bulk_copy, &lane, std::move(what));
  }
  start_store(lane, box, origin, from, place);
}

void AsyncCopies::store(Lane& lane, std::byte* to, const std::byte* from, std::uint32_t bytes, Place place) {
  if (bytes == 0 || bytes % row_alignment != 0) {
    std::string what =
        fmt::format("bulk store at {}: {} bytes; a multiple of {}, not 0", at(place), bytes, row_alignment);
    worker_.fail(FaultKind::bulk_copy, &lane, std::move(what));
  }
  require_shared(lane, from, bytes, row_alignment, "bulk store", place);
  if (reinterpret_cast<std::uintptr_t>(to) % row_alignment != 0) {
    std::string what =
        fmt::format("bulk store at {}: its place in global memory is not a multiple of {} bytes", at(place),
                    row_alignment);
    worker_.fail(FaultKind::misaligned, &lane, std::move(what));
  }
  start_store(lane, {to, 1, bytes, bytes, 1, bytes, 1}, {0, 0}, from, place);
}

/// The bytes of the box, which may be taken, are under way from now on.
void AsyncCopies::start_store(Lane& lane, const TensorBox& box, BoxOrigin origin, const std::byte* from,
                              Place place) {
  used_ = true;
  if (fenced_) publish();
  const std::size_t bytes = box.box_bytes();
  reads(from, bytes);
  ignore_accesses_begin();
  const bool shown = std::memcmp(shadow_of(from, bytes), from, bytes) == 0;
  ignore_accesses_end();
  if (!shown) {
    std::string what = fmt::format("bulk store at {}: {} was written with no fence.proxy.async since",
                                   at(place), name_of(from));
    worker_.fail(FaultKind::bulk_copy, &lane, std::move(what));
  }
  Store* const slot = free_slot(stores_);
  if (slot == nullptr) {
    std::string what = fmt::format("bulk store at {}: more than {} in flight", at(place), max_in_flight);
    worker_.fail(FaultKind::bulk_copy, &lane, std::move(what));
  }
  slot->live = true;
  slot->read = false;
  slot->number = ++issued_;
  slot->group = committed_[worker_.number_of(lane)];
  slot->box = box;
  slot->origin = origin;
  slot->from = from;
  ignore_accesses_begin();  // other lanes had the slot before
  slot->bytes.assign(from, from + bytes);
  ignore_accesses_end();
  slot->lane = &lane;
  slot->place = place;
  ++live_stores_;
}

void AsyncCopies::commit(const Lane& lane) {
  used_ = true;
  ++committed_[worker_.number_of(lane)];
}

/// The oldest store of the lane in its first `groups` groups.
AsyncCopies::Store* AsyncCopies::first_store(const Lane& lane, std::uint32_t groups) {
  Store* first = nullptr;
  for (Store& store : stores_) {
    if (!store.live || store.lane != &lane || store.group >= groups) continue;
    if (first == nullptr || store.number < first->number) first = &store;
  }
  return first;
}

void AsyncCopies::finish_reading(const Lane& lane, Store& store, Place place) {
  if (store.read) return;
  store.read = true;
  if (std::memcmp(store.from, store.bytes.data(), store.bytes.size()) == 0) return;
  std::string what = fmt::format(
      "{} was written before the bulk store issued at {} had read it, which the wait at {} "
      "shows",
      name_of(store.from), at(store.place), at(place));
  worker_.fail(FaultKind::bulk_copy, &lane, std::move(what));
}

void AsyncCopies::finish(Store& store) {
  for_inside(store.box, store.origin, [&](std::size_t offset, std::byte* to, std::size_t n) {
    std::memcpy(to, store.bytes.data() + offset, n);
  });
  store.live = false;
  --live_stores_;
}

void AsyncCopies::wait_group(Lane& lane, std::uint32_t groups, bool read, Place place) {
  const std::uint32_t committed = committed_[worker_.number_of(lane)];
  if (live_stores_ == 0 || committed <= groups) return;
  const std::uint32_t complete = committed - groups;
  for (Store& store : stores_) {
    if (store.live && store.lane == &lane && store.group < complete) finish_reading(lane, store, place);
  }
  if (read) return;
  while (Store* const store = first_store(lane, complete)) finish(*store);
}

void AsyncCopies::end_lane(const Lane& lane) {
  if (live_stores_ == 0) return;
  while (Store* const store = first_store(lane, ~0u)) {
    if (!store->read) {
      std::string what = fmt::format("it ended before it waited for the bulk store issued at {} to read {}",
                                     at(store->place), name_of(store->from));
      worker_.fail(FaultKind::bulk_copy, &lane, std::move(what));
    }
    finish(*store);
  }
}

}  // namespace assay::executor::detail
