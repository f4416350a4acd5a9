// Sums of doubles are rounded at each step, so an end that was rounded before can be missed, whatever the last part is.
// No step rounds, though, when all parts are whole multiples of the last binary digit of the total: then every sum on
// the way is such a multiple too, and not above the total, so a double holds it. On that grid parts are counted in
// whole numbers, and what rounding left over is dealt out among parts that have room for it.
#include "exact_sum.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

namespace labrig::reports {
namespace {

double inside(const Part& part) {
  const double most = std::isfinite(part.most) ? std::max(part.most, 0.0) : 0.0;
  return std::isfinite(part.points) ? std::clamp(part.points, 0.0, most) : 0.0;
}

// The distance to the next double above, of the smallest power of two that is not above `total`.
double last_digit(double total) {
  int exponent = 0;
  std::frexp(total, &exponent);
  return std::max(std::ldexp(1.0, exponent - std::numeric_limits<double>::digits),
                  std::numeric_limits<double>::denorm_min());
}

// Whole steps of the grid; what is beyond the total has no use.
std::int64_t steps(double points, double step, double total) { return std::llround(std::min(points, total) / step); }
std::int64_t steps_below(double points, double step, double total) {
  return static_cast<std::int64_t>(std::floor(std::min(points, total) / step));
}

// Takes from the largest, or gives to those with the most room, until nothing is left; else the rest. What earned
// nothing comes last.
std::int64_t deal_out(std::int64_t rest, std::vector<std::int64_t>& scores, const std::vector<std::int64_t>& most) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto room = [&](std::size_t i) { return rest > 0 ? most[i] - scores[i] : scores[i]; };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(scores[a] > 0, room(a)) > std::pair(scores[b] > 0, room(b));
  });
  for (const std::size_t i : order) {
    const std::int64_t change = rest > 0 ? std::min(rest, room(i)) : -std::min(-rest, room(i));
    scores[i] += change;
    rest -= change;
    if (rest == 0) break;
  }
  return rest;
}

}  // namespace

std::vector<double> adding_up_to(double total, const std::vector<Part>& parts) {
  std::vector<double> scores;
  for (const Part& part : parts) scores.push_back(inside(part));
  // As they are, where that does: shorter to read.
  if (std::accumulate(scores.begin(), scores.end(), 0.0) == total) return scores;
  const double step = last_digit(total);
  std::vector<std::int64_t> grid, most;
  // 2^53 steps are the total; as many parts as fit into memory cannot overflow 64 bits before they are below it.
  std::int64_t rest = steps(total, step, total);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double ceiling = std::isfinite(parts[i].most) ? std::max(parts[i].most, 0.0) : 0.0;
    most.push_back(steps_below(ceiling, step, total));
    grid.push_back(std::min(steps(scores[i], step, total), most.back()));
    rest -= grid.back();
  }
  rest = deal_out(rest, grid, most);
  // Decimals are not what they say: nine times 0.1 are less than 0.9, by a step or two.
  for (std::int64_t& one : most) one += 2;
  rest = deal_out(rest, grid, most);
  for (std::size_t i = 0; i < parts.size(); ++i) scores[i] = static_cast<double>(grid[i]) * step;
  if (rest != 0) scores.push_back(static_cast<double>(rest) * step);
  return scores;
}

}  // namespace labrig::reports
