// What the charts share: axes with round numbers, and coordinates. Horizontal positions are fractions of the width,
// written as percentages: a chart fills any width while its text keeps its size.
#pragma once

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

std::string percent(double fraction);  // "12.34%"

// An <svg> of `height` pixels that is read as one picture. `title` and `desc` are escaped here; `body` is SVG.
std::string picture(std::string_view css_class, std::string_view id, int height, std::string_view title,
                    std::string_view desc, std::string_view body);
// Vertical lines from `top` to `bottom` with their labels under them.
std::string time_axis(const std::vector<Tick>& ticks, int top, int bottom);

}  // namespace labrig::reports::svg
