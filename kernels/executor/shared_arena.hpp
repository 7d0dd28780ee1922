// The shared memory of the block that a worker runs: variables between red zones, poisoned before every
// block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "kernels/executor/cuda_words.hpp"

namespace assay::executor::detail {

class SharedArena {
 public:
  static constexpr std::size_t limit = 227 * 1024;  ///< bytes a block may use on sm_90 and sm_100
  static constexpr std::size_t red_zone = 64;
  static constexpr unsigned max_variables = 512;  ///< in one launch
  /// Room for every red zone and alignment gap of max_variables variables; untouched pages cost nothing.
  static constexpr std::size_t arena_bytes = limit + max_variables * 4 * red_zone;
  static constexpr unsigned max_declared = 16384;  ///< in one program, template instantiations counted singly

  SharedArena();
  ~SharedArena();
  SharedArena(const SharedArena&) = delete;
  SharedArena& operator=(const SharedArena&) = delete;

  void start_launch(std::size_t dynamic_bytes, std::uint8_t poison);
  void start_block();

  std::byte* dynamic() const { return dynamic_; }

  /// nullptr when the block would use more than `limit`.
  std::byte* address(SharedVariable& variable) {
    const unsigned index = variable.index.load(std::memory_order_relaxed);
    if (index != 0 && places_[index].launch == launch_) [[likely]]
      return places_[index].begin;
    return allocate(variable);
  }
  std::size_t used() const { return used_; }
  bool empty() const { return count_ == 0; }

  std::uint8_t poison() const { return poison_; }
  /// Whether the bytes lie within one variable.
  bool contains(const std::byte* address, std::size_t bytes) const {
    const Variable* const v = variable_at(address);
    return v != nullptr && bytes <= v->end - offset_of(address);
  }
  /// "'tile' + 64", or that the address is no shared memory.
  std::string describe(const std::byte* address) const;
  /// Below arena_bytes for an address within a variable.
  std::size_t offset_of(const std::byte* address) const {
    return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(address) -
                                    reinterpret_cast<std::uintptr_t>(memory_));
  }
  template <class Visit>
  void for_each_variable(const Visit& visit) const {
    for (unsigned i = 0; i < count_; ++i) {
      visit(memory_ + variables_[i].begin, variables_[i].end - variables_[i].begin);
    }
  }

  /// What was damaged, in words, when a red zone no longer holds its pattern. AddressSanitizer builds find
  /// the write itself instead.
  std::optional<std::string> damage() const;

 private:
  struct Place {
    std::uint64_t launch = 0;
    std::byte* begin = nullptr;
  };
  struct Variable {
    const char* name;
    std::size_t begin, end;  ///< offsets; the zone before it begins where the variable before it ends
  };

  const Variable* variable_at(const std::byte* address) const;
  std::byte* allocate(SharedVariable&);
  std::size_t place(const char* name, std::size_t bytes, std::size_t begin);
  std::byte pattern(std::size_t offset) const;
  void guard(std::size_t begin, std::size_t end);
  void guard_all();
  std::optional<std::size_t> damaged_in(std::size_t begin, std::size_t end) const;

  std::byte* memory_;
  std::byte* dynamic_ = nullptr;
  std::uint64_t launch_ = 0;
  std::uint8_t poison_ = 0;
  std::size_t used_ = 0;
  unsigned count_ = 0;
  std::array<Variable, max_variables> variables_;  // fixed: lanes allocate, and must not touch the heap
  std::array<Place, max_declared> places_;
};

}  // namespace assay::executor::detail
