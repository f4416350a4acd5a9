// What the charts share: axes with round numbers, and coordinates. Horizontal positions are fractions of the width,
// written as percentages: a chart fills any width while its text keeps its size.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace labrig::reports::svg {

struct Tick {
  double at = 0;  // fraction of the axis
  std::string label;
};
// At most `most` intervals with steps of 1, 2 or 5 times a power of ten; the first tick is 0.
std::vector<Tick> time_ticks(double end_ps, int most = 5);
// Steps are powers of two.
std::vector<Tick> byte_ticks(double largest_bytes, int most = 4);

// An axis for numbers from `low` to `high`, linear or logarithmic. Values without a place (not above 0 on a logarithmic
// axis) have none.
struct Scale {
  double low = 0, high = 1;
  bool logarithmic = false;
  std::string unit;
  std::optional<double> at(double value) const;  // 0 to 1, clamped
  std::vector<Tick> ticks(int most = 5) const;
};
// Takes in all of `values`, with round ends; linear ones start at 0 where that costs little.
Scale scale_of(const std::vector<double>& values, bool logarithmic, std::string unit);

std::string percent(double fraction);  // "12.34%"

// An <svg> of `height` pixels that is read as one picture. `title` and `desc` are escaped here; `body` is SVG.
std::string picture(std::string_view css_class, std::string_view id, int height, std::string_view title,
                    std::string_view desc, std::string_view body);
// Vertical lines from `top` to `bottom` with their labels under them.
std::string time_axis(const std::vector<Tick>& ticks, int top, int bottom);
// Horizontal lines with their labels above them; `y` from a fraction of the axis, 0 at the bottom.
std::string value_axis(const std::vector<Tick>& ticks, int top, int bottom);
// Pixels from the top for a fraction of the height.
double height_at(double fraction, int top, int bottom);

// A mark at a place, told from others by its shape: 0 a disc, 1 a diamond, 2 a triangle, 3 a square, 4 a cross.
std::string mark(std::string_view css_class, double at, double y, int shape, std::string_view title);
// Text beside a mark that stays inside the picture.
std::string beside(std::string_view css_class, double at, double y, std::string_view text);

}  // namespace labrig::reports::svg
