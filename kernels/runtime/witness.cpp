#include "kernels/runtime/witness.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace assay::kernels {
namespace {

constexpr std::size_t round_up_to_word(std::size_t n) { return (n + 3) & ~std::size_t{3}; }

/// Looks for the build id (owner "GNU", type NT_GNU_BUILD_ID) in one segment of ELF notes and appends its hex
/// digits.
bool append_build_id(const char* notes, std::size_t size, std::string& hex) {
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes, sizeof header);
    const char* owner = notes + sizeof header;
    const char* content = owner + round_up_to_word(header.n_namesz);
    const std::size_t note_size =
        sizeof header + round_up_to_word(header.n_namesz) + round_up_to_word(header.n_descsz);
    if (note_size > size) return false;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && std::memcmp(owner, "GNU", 4) == 0) {
      for (std::size_t i = 0; i < header.n_descsz; ++i) {
        const auto byte = static_cast<unsigned char>(content[i]);
        hex += "0123456789abcdef"[byte >> 4];
        hex += "0123456789abcdef"[byte & 15];
      }
      return true;
    }
    notes += note_size;
    size -= note_size;
  }
  return false;
}

/// The callback of dl_iterate_phdr. The first object it visits is the program itself; a non-zero result ends
/// the walk.
int read_program(dl_phdr_info* object, std::size_t, void* out) {
  auto& hex = *static_cast<std::string*>(out);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* notes = reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr);
    if (append_build_id(notes, segment.p_memsz, hex)) break;
  }
  return 1;
}

}  // namespace

std::uint64_t Witness::launches_of(std::string_view kernel) const {
  return static_cast<std::uint64_t>(std::count_if(
      launches.begin(), launches.end(), [&](const LaunchRecord& launch) { return launch.kernel == kernel; }));
}

const std::string& binary_hash() {
  static const std::string hash = [] {
    std::string hex;
    dl_iterate_phdr(read_program, &hex);
    return hex.empty() ? std::string("unknown") : hex;
  }();
  return hash;
}

}  // namespace assay::kernels
