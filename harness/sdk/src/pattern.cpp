// Each pattern is a guess about the cause; it is told when nine of ten wrong values fit it, the most telling first.
#include "pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace labrig::lab {

namespace {

// Fewer than this fit too much by chance, where a pattern is about other values of the same tensor.
constexpr std::size_t kEnoughToCompare = 4;

bool most(std::size_t part, std::size_t all) { return part > 0 && 10 * part >= 9 * all; }

// "all 12 wrong values", "11 of the 12 wrong values".
std::string so_many(std::size_t count, std::size_t wrong) {
  if (wrong == 1) return "the wrong value";
  return count == wrong ? fmt::format("all {} wrong values", wrong)
                        : fmt::format("{} of the {} wrong values", count, wrong);
}
const char* are(std::size_t wrong) { return wrong == 1 ? "is" : "are"; }

template <class Fits>
std::size_t count_wrong(const Differences& d, Fits fits) {
  return static_cast<std::size_t>(std::ranges::count_if(d.wrong, fits));
}

Pattern pattern(const char* name, std::size_t count, std::string text) {
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return {name, std::move(text), static_cast<std::int64_t>(count)};
}

// --- where they are
// ----------------------------------------------------------------------------------------------------

// The wrong values fill a part at the end, which is at most half of all.
bool fills(std::size_t wrong, std::size_t part, std::size_t all) { return 2 * part <= all && most(wrong, part); }

// "in the last 3 of 8 rows"; empty when they are no tail.
std::string tail_text(const Differences& d) {
  if (d.got.size() < 4 || d.sizes.count() == 0) return "";
  const std::size_t all = d.got.size(), wrong = d.wrong.size();
  const auto columns = static_cast<std::size_t>(d.sizes[d.sizes.count() - 1]);
  const auto rows = static_cast<std::size_t>(d.sizes[0]);
  const std::size_t row = all / rows;
  if (d.sizes.count() > 1) {
    const std::size_t left = rows - d.wrong.front() / row;
    if (fills(wrong, left * row, all)) return fmt::format("in the last {} of {} rows", left, rows);
    std::size_t first = columns;
    for (const std::size_t i : d.wrong) first = std::min(first, i % columns);
    const std::size_t wide = columns - first;
    if (fills(wrong, all / columns * wide, all))
      return wide == 1 ? fmt::format("in the last of {} columns", columns)
                       : fmt::format("in the last {} of {} columns", wide, columns);
  }
  const std::size_t left = all - d.wrong.front();
  return fills(wrong, left, all) ? fmt::format("among the last {} of {} values", left, all) : "";
}

Pattern tail(const Differences& d) {
  const std::string where = tail_text(d);
  if (where.empty()) return {};
  return pattern("tail", d.wrong.size(),
                 fmt::format("{} {} {}: what comes last was not computed, or came out of a loop that ended too soon",
                             so_many(d.wrong.size(), d.wrong.size()), are(d.wrong.size()), where));
}

std::string and_where(const Differences& d) {
  const std::string where = tail_text(d);
  return where.empty() ? "" : ", " + where;
}

// --- what they are
// -----------------------------------------------------------------------------------------------------

// Memory of the card that nothing has written, and poison, have all bits set.
Pattern unwritten(const Differences& d) {
  const std::size_t size = d.bytes.size() / d.got.size();
  const auto all_ones = [&](std::size_t i) {
    return std::ranges::all_of(d.bytes.subspan(i * size, size), [](std::byte b) { return b == std::byte{0xFF}; });
  };
  const std::size_t count = count_wrong(d, all_ones);
  if (!most(count, d.wrong.size())) return {};
  // Whole numbers of that kind may be meant.
  const double as_number = d.got[*std::ranges::find_if(d.wrong, all_ones)];
  if (std::ranges::find(d.want, as_number) != d.want.end()) return {};
  return pattern("unwritten", count,
                 fmt::format("{} {} as memory that nothing has written (every bit is 1){}: no kernel and no copy had "
                             "put a result there, or had not yet",
                             so_many(count, d.wrong.size()), d.wrong.size() == 1 ? "reads" : "read", and_where(d)));
}

Pattern not_a_number(const Differences& d) {
  const std::size_t nan = count_wrong(d, [&](std::size_t i) { return std::isnan(d.got[i]); });
  const std::size_t count = count_wrong(d, [&](std::size_t i) { return !std::isfinite(d.got[i]); });
  if (!most(count, d.wrong.size())) return {};
  const char* what = nan == count ? "NaN" : nan == 0 ? "infinite" : "NaN or infinite";
  return pattern("not-a-number", count,
                 fmt::format("{} {} {}{}: a step left the range of its type, divided by 0, or read what nothing had "
                             "written",
                             so_many(count, d.wrong.size()), are(d.wrong.size()), what, and_where(d)));
}

Pattern stale_from_before(const Differences& d) {
  if (d.before.empty()) return {};
  const std::size_t count = count_wrong(d, [&](std::size_t i) { return d.near(d.got[i], d.before[i]); });
  if (!most(count, d.wrong.size())) return {};
  return pattern("stale", count,
                 fmt::format("{} {} what was right one call or batch earlier{}: a buffer was read before it was filled "
                             "again, or was not filled again",
                             so_many(count, d.wrong.size()), are(d.wrong.size()), and_where(d)));
}

// Rows are what lies along the first dimension.
Pattern stale_from_neighbour(const Differences& d, std::size_t row) {
  const std::size_t from_above =
      count_wrong(d, [&](std::size_t i) { return i >= row && d.near(d.got[i], d.want[i - row]); });
  const std::size_t from_below =
      count_wrong(d, [&](std::size_t i) { return i + row < d.got.size() && d.near(d.got[i], d.want[i + row]); });
  const std::size_t count = std::max(from_above, from_below);
  if (!most(count, d.wrong.size())) return {};
  return pattern(
      "stale", count,
      fmt::format("{} would be right one place {} along the first dimension{}: a result was kept from one "
                  "round to the next, or places are counted from another start",
                  so_many(count, d.wrong.size()), from_above >= from_below ? "earlier" : "later", and_where(d)));
}

// Whole rows that are right in the place of others, as when a buffer is filled again before it was used.
Pattern stale_from_any_row(const Differences& d, std::size_t row) {
  constexpr std::size_t kLongEnough = 4, kMostRows = 1000;
  const std::size_t rows = d.got.size() / row;
  if (row < kLongEnough || rows > kMostRows) return {};
  std::size_t count = 0;
  for (std::size_t first = 0; first < d.wrong.size();) {
    const std::size_t here = d.wrong[first] / row;
    std::size_t end = first;
    while (end < d.wrong.size() && d.wrong[end] / row == here) ++end;
    const auto is_row = [&](std::size_t other) {
      for (std::size_t j = 0; j < row; ++j)
        if (!d.near(d.got[here * row + j], d.want[other * row + j])) return false;
      return true;
    };
    std::size_t other = 0;
    while (other < rows && !is_row(other)) ++other;
    if (other < rows) count += end - first;
    first = end;
  }
  if (!most(count, d.wrong.size())) return {};
  return pattern(
      "stale", count,
      fmt::format("{} would be right in another place along the first dimension{}: a buffer was filled again "
                  "before it had been used, or results were put in the wrong places",
                  so_many(count, d.wrong.size()), and_where(d)));
}

Pattern stale(const Differences& d) {
  if (Pattern found = stale_from_before(d); !found.name.empty()) return found;
  if (d.sizes.count() == 0 || d.sizes[0] < 2 || d.wrong.size() < kEnoughToCompare) return {};
  const std::size_t row = d.got.size() / static_cast<std::size_t>(d.sizes[0]);
  if (Pattern found = stale_from_neighbour(d, row); !found.name.empty()) return found;
  return stale_from_any_row(d, row);
}

// The data of the last two dimensions, in the order of the transposed matrix.
Pattern transposed(const Differences& d) {
  if (d.sizes.count() < 2 || d.wrong.size() < kEnoughToCompare) return {};
  const auto rows = static_cast<std::size_t>(d.sizes[d.sizes.count() - 2]);
  const auto columns = static_cast<std::size_t>(d.sizes[d.sizes.count() - 1]);
  if (rows < 2 || columns < 2) return {};
  const std::size_t count = count_wrong(d, [&](std::size_t i) {
    const std::size_t in = i % (rows * columns);
    return d.near(d.got[i], d.want[i - in + in % rows * columns + in / rows]);
  });
  if (!most(count, d.wrong.size())) return {};
  return pattern("transposed", count,
                 fmt::format("{} would be right in the transposed {}: rows and columns changed places",
                             so_many(count, d.wrong.size()),
                             rows == columns ? "matrix" : "matrix, read in the order of its memory"));
}

Pattern constant_factor(const Differences& d) {
  std::vector<double> ratios;
  double least = INFINITY, largest = -INFINITY;
  for (const std::size_t i : d.wrong) {
    if (!std::isfinite(d.got[i]) || !std::isfinite(d.want[i]) || d.want[i] == 0) continue;
    ratios.push_back(d.got[i] / d.want[i]);
    least = std::min(least, d.want[i]);
    largest = std::max(largest, d.want[i]);
  }
  // Of expectations that are alike everything is a constant factor; of two there may be chance.
  if (ratios.size() < 3 || d.near(least, largest)) return {};
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::ranges::nth_element(ratios, middle);
  const double factor = *middle;
  if (factor == 0) return {};
  const std::size_t count = count_wrong(d, [&](std::size_t i) { return d.near(d.got[i] / factor, d.want[i]); });
  if (!most(count, d.wrong.size())) return {};
  const double whole = std::round(1 / factor);
  const std::string inverse =
      std::abs(factor) < 0.75 && std::abs(1 / factor - whole) < 0.01 * whole ? fmt::format(" (1/{})", whole) : "";
  return pattern("constant-factor", count,
                 fmt::format("{} {} {:.4g}{} times what is expected: a factor is missing, or one too many",
                             so_many(count, d.wrong.size()), are(d.wrong.size()), factor, inverse));
}

Pattern slightly_off(const Differences& d) {
  constexpr double kSlightly = 0.01;
  if (!most(d.wrong.size(), d.got.size()) || d.got.size() < kEnoughToCompare) return {};
  double scale = 0;
  for (const double value : d.want)
    if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
  std::vector<double> errors;
  errors.reserve(d.wrong.size());
  for (const std::size_t i : d.wrong)
    errors.push_back(std::abs(d.got[i] - d.want[i]) / std::max(std::abs(d.want[i]), kSlightly * scale));
  const auto count =
      static_cast<std::size_t>(std::ranges::count_if(errors, [](double error) { return error < kSlightly; }));
  if (!most(count, d.wrong.size())) return {};
  std::ranges::nth_element(errors, errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2));
  return pattern("slightly-off", count,
                 fmt::format("{} {} off by less than 1 % ({:.2g} % in the middle): the arithmetic is right but for a "
                             "small term, or had too few bits",
                             so_many(count, d.wrong.size()), are(d.wrong.size()), 100 * errors[errors.size() / 2]));
}

}  // namespace

bool Differences::near(double value, double expected) const {
  return value == expected ||
         (std::isfinite(expected) && std::abs(value - expected) <= atol + rtol * std::abs(expected));
}

Pattern find_pattern(const Differences& differences) {
  for (const auto& look : {unwritten, not_a_number, stale, transposed, tail, constant_factor, slightly_off})
    if (Pattern found = look(differences); !found.name.empty()) return found;
  return {};
}

}  // namespace labrig::lab
