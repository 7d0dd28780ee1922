#include "kernels/executor/shared_arena.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <system_error>

#include "kernels/executor/sanitizers.hpp"

namespace assay::executor::detail {
namespace {

constexpr std::size_t arena_bytes = SharedArena::arena_bytes;
constexpr std::size_t dynamic_alignment = 1024;

void* map_arena(void* where) {
  const int fixed = where == nullptr ? 0 : MAP_FIXED;
  void* p = mmap(where, arena_bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
  if (p == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "executor: no shared memory");
  return p;
}

/// memset, but not in the eyes of ThreadSanitizer: the lane that meets a variable first poisons it before any
/// lane can use it, and is not thereby a writer of it.
void fill(std::byte* begin, std::uint8_t value, std::size_t bytes) {
  ignore_accesses_begin();
  std::memset(begin, value, bytes);
  ignore_accesses_end();
}

}  // namespace

SharedArena::SharedArena() : memory_(static_cast<std::byte*>(map_arena(nullptr))) {}

SharedArena::~SharedArena() {
  unpoison_memory(memory_, arena_bytes);
  munmap(memory_, arena_bytes);
}

/// Differs from byte to byte, so that no store of one value restores it, and from one shared_poison to
/// another, so that a read of it changes with the poison as a read of an uninitialised variable does.
std::byte SharedArena::pattern(std::size_t offset) const {
  return static_cast<std::byte>(static_cast<std::uint8_t>(0xA7u + 0x1Du * (offset & 63u)) ^ poison_);
}

void SharedArena::guard(std::size_t begin, std::size_t end) {
  if constexpr (asan) {
    poison_memory(memory_ + begin, end - begin);
  } else {
    for (std::size_t i = begin; i < end; ++i) memory_[i] = pattern(i);
  }
}

void SharedArena::guard_all() {
  std::size_t from = 0;
  for (unsigned i = 0; i < count_; ++i) {
    guard(from, variables_[i].begin);
    from = variables_[i].end;
  }
  guard(from, from + red_zone);
}

void SharedArena::start_launch(std::size_t dynamic_bytes, std::uint8_t poison) {
  unpoison_memory(memory_, arena_bytes);
  ++launch_;
  poison_ = poison;
  used_ = 0;
  count_ = 0;
  dynamic_ = nullptr;
  if (dynamic_bytes > 0)
    dynamic_ = memory_ + place("dynamic shared memory", dynamic_bytes, dynamic_alignment);
}

void SharedArena::start_block() {
  if (count_ == 0) return;
  if constexpr (tsan) {
    map_arena(memory_);  // a fresh mapping forgets the accesses of the block before, which are no races with
                         // this one's
    guard_all();
  }
  for (unsigned i = 0; i < count_; ++i) {
    fill(memory_ + variables_[i].begin, poison_, variables_[i].end - variables_[i].begin);
  }
}

/// Records a variable at offset `begin`, poisons it and renews the zones around it.
std::size_t SharedArena::place(const char* name, std::size_t bytes, std::size_t begin) {
  const std::size_t left = count_ == 0 ? 0 : variables_[count_ - 1].end;
  unpoison_memory(memory_ + left, begin + bytes - left);
  guard(left, begin);
  fill(memory_ + begin, poison_, bytes);
  variables_[count_++] = {name, begin, begin + bytes};
  guard(begin + bytes, begin + bytes + red_zone);
  used_ += bytes;
  return begin;
}

std::byte* SharedArena::allocate(SharedVariable& variable) {
  static std::mutex mutex;  // variables are numbered once per program, whichever worker meets them first
  static unsigned numbered = 0;
  unsigned index = 0;
  {
    const std::lock_guard lock(mutex);
    index = variable.index.load(std::memory_order_relaxed);
    if (index == 0) variable.index.store(index = ++numbered, std::memory_order_relaxed);
  }
  assert(index < max_declared && "more ASSAY_SHARED declarations in one program than the table holds");
  if (used_ + variable.bytes > limit || count_ == max_variables) return nullptr;
  // Exactly the alignment that the type promises and no more, so that a kernel relying on more is caught.
  // Never under eight, the granule of AddressSanitizer.
  const std::size_t alignment = std::max<std::size_t>(variable.alignment, 8);
  const std::size_t from = (count_ == 0 ? 0 : variables_[count_ - 1].end) + red_zone;
  std::size_t begin = (from + alignment - 1) / alignment * alignment;
  if (begin / alignment % 2 == 0) begin += alignment;
  places_[index] = {launch_, memory_ + place(variable.name, variable.bytes, begin)};
  return places_[index].begin;
}

const SharedArena::Variable* SharedArena::variable_at(const std::byte* address) const {
  const std::size_t at = offset_of(address);
  for (unsigned i = 0; i < count_; ++i) {
    if (at >= variables_[i].begin && at < variables_[i].end) return &variables_[i];
  }
  return nullptr;
}

std::string SharedArena::describe(const std::byte* address) const {
  const Variable* const v = variable_at(address);
  if (v == nullptr) return "an address outside shared memory";
  return fmt::format("shared '{}' + {}", v->name, offset_of(address) - v->begin);
}

std::optional<std::size_t> SharedArena::damaged_in(std::size_t begin, std::size_t end) const {
  for (std::size_t i = begin; i < end; ++i) {
    if (memory_[i] != pattern(i)) return i;
  }
  return std::nullopt;
}

std::optional<std::string> SharedArena::damage() const {
  if (asan || count_ == 0) return std::nullopt;
  std::size_t from = 0;
  for (unsigned i = 0; i <= count_; ++i) {
    const std::size_t to = i < count_ ? variables_[i].begin : from + red_zone;
    if (const auto at = damaged_in(from, to)) {
      const bool after = i > 0 && (i == count_ || *at - from < to - *at);
      const Variable& v = variables_[after ? i - 1 : i];
      const auto offset = static_cast<std::ptrdiff_t>(*at) - static_cast<std::ptrdiff_t>(v.begin);
      return fmt::format("shared memory '{}', {} bytes, was written at byte {}", v.name, v.end - v.begin,
                         offset);
    }
    if (i < count_) from = variables_[i].end;
  }
  return std::nullopt;
}

}  // namespace assay::executor::detail
