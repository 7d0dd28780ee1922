// Parts of a case's dimensions, from which families make smaller cases.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace assay::properties {

/// Elements [begin, end) of a dimension.
struct Cut {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
  bool operator==(const Cut&) const = default;
};

/// Parts of [0, extent) that hold `at`, in whole units (the last may be cut off by the extent), the shortest
/// first and the whole last: windows of 1, 2, 4, ... units that begin at a multiple of their length, so that
/// a place keeps its lane, thread and slot in a tile; what ends with the unit of `at`; what begins with it.
/// at < extent, unit > 0.
std::vector<Cut> cuts_around(std::size_t at, std::size_t extent, std::size_t unit);

/// The shortest first, of equal ones the first; none twice.
void sort_by_size(std::vector<Cut>&);

/// One cut of each dimension: all combinations but that of the wholes, by their number of elements. Each list
/// ends with the whole.
std::vector<std::vector<Cut>> boxes(const std::vector<std::vector<Cut>>& dimensions);

/// Of a dimension whose first `data` elements are cut and behind which padding stays: where an element that
/// is left comes to lie, and back.
inline std::size_t moved(std::size_t at, std::size_t data, const Cut& cut) {
  return at < data ? at - cut.begin : cut.size() + (at - data);
}
inline std::size_t origin(std::size_t at, std::size_t data, const Cut& cut) {
  return at < cut.size() ? cut.begin + at : data + (at - cut.size());
}

/// The same point without one of the things that are special about it. Two points are the same when they
/// print the same.
template <class Point>
class Plainer {
 public:
  explicit Plainer(Point special) : special_(std::move(special)), text_(print(special_)) {}

  /// Adds the point with this change, unless it changes nothing.
  template <class Change>
  void add(Change&& change) {
    Point other = special_;
    change(other);
    if (print(other) != text_) points.push_back(std::move(other));
  }

  std::vector<Point> points;

 private:
  Point special_;
  std::string text_;
};

}  // namespace assay::properties
