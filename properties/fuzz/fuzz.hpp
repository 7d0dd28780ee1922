// What the fuzz targets share. A target is a function over arbitrary bytes that throws nothing on any of
// them: the driver (driver_main.cpp) hands it what libFuzzer makes up, the test (fuzz_test.cpp) the committed
// seeds/NAME/*.
#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/files/messages.hpp"
#include "fixtures/files/tensor_file.hpp"
#include "fixtures/tensor/errors.hpp"

namespace assay::fuzz {

using Bytes = std::span<const std::byte>;

struct Target {
  std::string_view name;
  void (*run)(Bytes);
  std::string_view seeds = name;  ///< their folder
  bool may_crash = false;         ///< it calls the HDF5 library on foreign files, which may end in any way
};

/// One object of this at namespace scope makes a target known.
class Register {
 public:
  explicit Register(Target);
};
const std::vector<Target>& targets();

/// A claim of a target that some input broke.
class Violation : public std::logic_error {
  using std::logic_error::logic_error;
};

inline void claim(bool holds, const std::string& what) {
  if (!holds) throw Violation(what);
}

/// What every refusal has to be: one line that a terminal can show, and of a length that someone reads.
inline constexpr std::size_t longest_message = 2500;
void check_message(std::string_view);

/// Whether `action` accepted its input. A refusal is a BadInput with a proper message; everything else that
/// it throws goes on up.
template <class Action>
bool accepted(Action action) {
  try {
    action();
    return true;
  } catch (const BadInput& error) {
    check_message(error.what());
    return false;
  }
}

inline std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A file with this content, until the next call.
std::filesystem::path file_of(Bytes);

/// What holds for every file that a reader opened: tensors have names of their own, each one listed as
/// supported is whole or, where `may_fail` because it has to be decoded first, refused; every other is
/// refused.
void check_tensors(const fixtures::TensorFile&, bool may_fail);

}  // namespace assay::fuzz
