// How contents differ from what a case's oracle accepts: counts, the worst elements, how far outside, and
// where.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "properties/comparator/comparator.hpp"
#include "properties/gate/family.hpp"
#include "properties/gate/runner.hpp"

namespace assay::properties::repro {

/// One wrong element in words.
struct WrongElement {
  Mismatch mismatch;
  std::string place;            ///< as describe_place
  std::string lowest, highest;  ///< of its interval, as describe_code; equal where it is one code
  std::string actual;
};

/// Wrong elements by how wrong they are. Distances mean something only between numbers that were written.
struct Histogram {
  /// Number b counts distances in (2^(b-1), 2^b]: 1, 2, 3-4, 5-8, ... up to 2^32.
  static constexpr std::size_t buckets = 33;
  std::array<std::size_t, buckets> distances{};
  std::size_t sign_of_zero = 0;  ///< a zero in place of the other zero
  std::size_t nan = 0;  ///< a NaN against a number, a number against a NaN, or another NaN than pinned
  std::size_t not_written = 0;  ///< still what was there before
  std::size_t had_to_stay = 0;  ///< written, and had to stay untouched

  /// The bucket of a distance of at least 1.
  static std::size_t bucket(std::uint64_t distance);
  /// "1", "2", "3-4", ...
  static std::string name(std::size_t bucket);
};

/// The matrix that a buffer stands for, in cells of about equal size, row by row.
struct Map {
  static constexpr std::size_t most_height = 24, most_width = 64;
  struct Cell {
    std::size_t judged = 0, wrong = 0;
  };
  std::size_t rows = 0, cols = 0;     ///< of the matrix
  std::size_t height = 0, width = 0;  ///< in cells
  std::vector<Cell> cells;
  std::size_t wrong_padding = 0;  ///< wrong elements that are in no row and column

  /// Cell i of a side of `extent` elements cut into `parts` begins at this element.
  static std::size_t begin(std::size_t i, std::size_t extent, std::size_t parts) {
    return i * extent / parts;
  }
  /// The cell that element `at` is in.
  static std::size_t part(std::size_t at, std::size_t extent, std::size_t parts) {
    return ((at + 1) * parts - 1) / extent;
  }
};

/// One output against its acceptance.
struct OutputReport {
  std::string name;
  std::string format;
  std::size_t judged = 0, wrong = 0;
  std::size_t not_written = 0;  ///< of the wrong ones
  std::size_t not_judged = 0;   ///< had to stay as they were, and how they were is not known
  std::uint64_t worst_distance = 0;
  /// At most `most_shown` each: numbers, of the largest distance first, then by index; those that a NaN makes
  /// wrong; those that nobody wrote; those that somebody wrote and nobody should.
  std::vector<WrongElement> worst, nan, stale, written;
  Histogram histogram;  ///< of the wrong elements
  Map map;              ///< no cells where nothing is wrong

  static constexpr std::size_t most_shown = 8;
};

/// A report of every output of the case, in the order of outputs(). `actual` is anybody's: as many bytes as
/// each output has (programmer error otherwise). `before`: what the outputs held before; without it a buffer
/// that is updated in place held its initial contents, and of the others nothing is said of what had to stay
/// untouched.
std::vector<OutputReport> mismatches(Workload&, const Contents& actual, const Contents* before = nullptr);

/// The same of the first of the two runs that is wrong; not written is what holds each run's poison.
std::vector<OutputReport> mismatches(Workload&, const Execution&);

/// Whether anything is wrong.
bool any_wrong(const std::vector<OutputReport>&);

/// One line of a histogram.
struct HistogramLine {
  std::string name;
  std::size_t count = 0;
};
/// Distances up to the largest that there is, then the kinds without a distance that there are.
std::vector<HistogramLine> histogram_lines(const Histogram&);

/// The report as text: ASCII, at most 100 columns, every line ends in a newline. An output in which nothing
/// is wrong is one line.
std::string text(const OutputReport&);

/// The same for machines; keys are stable and documented in README.
nlohmann::ordered_json json(const OutputReport&);

/// The tenths of a cell's elements that are wrong, as one character of the text map: ' ' nothing judged, '.'
/// none,
/// '+' less than a tenth, '1' to '9' tenths rounded down, '#' all.
char shade(const Map::Cell&);

}  // namespace assay::properties::repro
