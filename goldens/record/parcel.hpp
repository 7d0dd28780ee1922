// A record as one text, for the way from the child process that read it: numbers as eight bytes in the order
// of this machine, texts and lists after their length.
#pragma once

#include <string>
#include <string_view>

#include "goldens/record/record.hpp"

namespace assay::goldens {

std::string pack(const Record&);

/// The inverse. Throws BadInput when the text is none that pack() makes, or an array's size is not that of
/// its shape.
Record unpack(std::string_view);

}  // namespace assay::goldens
