// Random points for properties.
#pragma once

#include <cstddef>
#include <vector>

#include "properties/gate/search.hpp"
#include "properties/mxfp8_cast/point.hpp"

namespace assay::properties::mxfp8_cast {

/// Anything a route could be given, shrinking toward one block of the simplest contract, rowwise. Every draw
/// is an index into a list or a count, so RapidCheck shrinks each toward its first entry.
Point any_point(const std::vector<fixtures::mxfp8_cast::Pattern>& fills);

/// As any_point, in the direction given.
Point any_point_along(Direction, const std::vector<fixtures::mxfp8_cast::Pattern>& fills);

/// Draws the layout of scales and the extents of both directions for the point's shape.
void draw_extents(Point&);

/// Draws extents with at least one byte of padding in every row, linear.
void draw_padded_extents(Point&);

/// Draws the offsets of X and of each direction's data.
void draw_offsets(Point&);

}  // namespace assay::properties::mxfp8_cast
