// The whole text of a case: where it runs, its token, and what its buffers hold instead of what the token's
// source would give. One printable line:
//
//   FAMILY[/ROUTE][@DEVICE]:key=value,...[;zeros][;BUFFER[INDEX]=CODES]...
//
//   mxfp8_cast/register@cpu:in=bf16,rows=2,cols=64;zeros;x[5]=3F81;x[64]=7F80 0000*3 FF80
//
// `zeros` fills every buffer the case begins with, the structural ones aside, before the codes are set.
// BUFFER is a name of given(); INDEX counts its stored elements from 0; CODES are hexadecimal codes of the
// buffer's format parted by spaces, CODE*n standing for n of the same. Without ROUTE and DEVICE a case is of
// all.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "properties/gate/family.hpp"

namespace assay::properties {

/// Codes in place of those a buffer would have, from element `first` on.
struct Override {
  std::string buffer;
  std::size_t first = 0;
  std::string codes;  ///< as in the text
};

struct CaseText {
  std::string family, route, device;  ///< route and device empty: all
  std::string token;                  ///< "FAMILY:key=value,..."
  bool zeros = false;
  std::vector<Override> overrides;
};

/// Reads the form only: names are not looked up, codes not decoded. The overrides begin at the first ';'
/// behind which everything is of the form above, so that a path in `on=` may hold ';'. Throws BadInput naming
/// the text and what is wrong with it.
CaseText parse_case(std::string_view text);

/// The inverse.
std::string print(const CaseText&);

/// The text with route and device in it: what a failing run is reproduced by.
std::string with_place(std::string_view text, std::string_view route, std::string_view device);

/// The family that the text names, and the index of its route; every route when it names none. Throws
/// BadInput naming the nearest.
const Family& family_of(const CaseText&);
std::vector<std::size_t> routes_of(const CaseText&);

/// The case, its buffers filled as the text says; token() is the text without route and device. Throws
/// BadInput naming the text and the reason: as Family::materialise; a buffer that the case has not, with the
/// nearest; an element past its end; codes of another width.
std::unique_ptr<Workload> build(const CaseText&);
std::unique_ptr<Workload> build_case(std::string_view text);

/// The text of the case of `token` with these contents (those of given(), in its order): zeros, and the
/// elements that are not zero.
CaseText text_of(const Family&, std::string_view token, const Contents&);

}  // namespace assay::properties
