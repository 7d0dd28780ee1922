// Random cases for properties: RapidCheck draws and shrinks them, with the seed and the tries of the gate.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "properties/gate/family.hpp"

namespace assay::properties {

/// Uniform in [least, end) at every size, shrinking toward `least`; inRange alone begins at `least` and only
/// slowly leaves it, which suits extents and not choices.
template <typename T>
T choice(T least, T end) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(least, end));
}

/// Runs `attempt` with random draws. It returns the tokens, one a line, of cases that contradict the
/// property, or nothing, and adds to the count what it compared. Returns the tokens of the smallest
/// contradiction, or nothing; `compared_nothing` when all the tries together compared nothing.
std::string search(const Bench&, const std::function<std::string(std::size_t& compared)>& attempt);

/// The kinds of property that every family has, over the points of a `Case`: a workload with a constructor
/// from a point and a member point(). print(point) is the token.
template <class Case>
class PropertiesOver {
 public:
  using Point = std::remove_cvref_t<decltype(std::declval<const Case&>().point())>;
  using Points = std::vector<Point>;
  using ByRoute = std::map<std::size_t, Contents>;
  using Related = std::function<bool(const Point&, const Contents&, const Point&, const Contents&)>;

  /// Searches the points that `draw` gives for some of which `holds` is false; it counts what it compared.
  static std::string search(const Bench& bench, const std::function<Points()>& draw,
                            const std::function<bool(const Points&, std::size_t& compared)>& holds) {
    return properties::search(bench, [&](std::size_t& compared) {
      const Points points = draw();
      std::string tokens;
      if (holds(points, compared)) return tokens;
      for (const Point& point : points) tokens += (tokens.empty() ? "" : "\n") + print(point);
      return tokens;
    });
  }

  /// Outputs by route. False when a case is judged wrong: relations are only asked of right outputs.
  static bool outputs_of(Bench& bench, const Point& point, ByRoute& outputs) {
    Case workload(point);
    return bench.judge(workload,
                       [&](std::size_t route, const Contents& contents) { outputs[route] = contents; });
  }

  /// Every case drawn is judged right on every route.
  static Property judged(std::string name, std::string sentence, std::function<Point()> draw) {
    return {std::move(name), std::move(sentence), [draw](Bench& bench) {
              return search(
                  bench, [&] { return Points{draw()}; },
                  [&](const Points& points, std::size_t& compared) {
                    Case workload(points[0]);
                    return bench.judge(workload, [&](std::size_t, const Contents&) { ++compared; });
                  });
            }};
  }

  /// Of every route's right output of the case drawn, `holds` is true.
  static Property of_output(std::string name, std::string sentence, std::function<Point()> draw,
                            std::function<bool(const Case&, const Contents&)> holds) {
    return {std::move(name), std::move(sentence), [draw, holds](Bench& bench) {
              return search(
                  bench, [&] { return Points{draw()}; },
                  [&](const Points& points, std::size_t& compared) {
                    Case workload(points[0]);
                    bool held = true;
                    return bench.judge(workload, [&](std::size_t, const Contents& contents) {
                      ++compared;
                      held = held && holds(workload, contents);
                    }) && held;
                  });
            }};
  }

  /// A relation between the outputs of two points drawn together, on every route that ran both.
  static Property relation(std::string name, std::string sentence, std::function<Points()> draw,
                           Related related) {
    return {std::move(name), std::move(sentence), [draw, related](Bench& bench) {
              return search(bench, draw, [&](const Points& points, std::size_t& compared) {
                ByRoute first, second;
                if (!outputs_of(bench, points[0], first) || !outputs_of(bench, points[1], second))
                  return false;
                return std::all_of(first.begin(), first.end(), [&](const auto& entry) {
                  const auto other = second.find(entry.first);
                  if (other == second.end()) return true;
                  ++compared;
                  return related(points[0], entry.second, points[1], other->second);
                });
              });
            }};
  }

  /// All routes that take the case drawn give the same bytes; one alone compares nothing.
  static Property routes_agree(std::string name, std::string sentence, std::function<Point()> draw) {
    return {std::move(name), std::move(sentence), [draw](Bench& bench) {
              return search(
                  bench, [&] { return Points{draw()}; },
                  [&](const Points& points, std::size_t& compared) {
                    ByRoute outputs;
                    if (!outputs_of(bench, points[0], outputs)) return false;
                    compared += outputs.size() < 2 ? 0 : 1;
                    return std::all_of(outputs.begin(), outputs.end(), [&](const auto& entry) {
                      return entry.second == outputs.begin()->second;
                    });
                  });
            }};
  }
};

}  // namespace assay::properties
