// Labels of the outermost ticks are anchored inwards, so that none is cut at the edge.
#include "svg/axis.hpp"

#include <fmt/format.h>

#include <cmath>

#include "text.hpp"
#include "units.hpp"

namespace labrig::reports::svg {

std::vector<Tick> time_ticks(double end_ps, int most) {
  if (!(end_ps > 0)) return {{0, "0"}};
  double step = std::pow(10, std::floor(std::log10(end_ps / most)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    if (end_ps / (step * factor) <= most) {
      step *= factor;
      break;
    }
  }
  // One unit for the whole axis: that of its end.
  double unit = 1;
  std::string_view name = "ps";
  for (const auto& [size, text] :
       {std::pair<double, std::string_view>{1e3, "ns"}, {1e6, "us"}, {1e9, "ms"}, {1e12, "s"}}) {
    if (end_ps >= size) unit = size, name = text;
  }
  std::vector<Tick> ticks;
  for (int i = 0; i * step <= end_ps * (1 + 1e-9); ++i) {
    const std::string label = i == 0 ? "0" : fmt::format("{:g} {}", i * step / unit, name);
    ticks.push_back({i * step / end_ps, label});
  }
  return ticks;
}

std::vector<Tick> byte_ticks(double largest_bytes, int most) {
  if (!(largest_bytes > 0)) return {{0, "0"}};
  double step = 1;
  while (largest_bytes / step > most) step *= 2;
  std::vector<Tick> ticks;
  for (int i = 0; i * step <= largest_bytes; ++i) {
    const double value = i * step;
    int power = 0;
    double scaled = value;
    while (scaled >= 1024 && power < 4) scaled /= 1024, ++power;
    static constexpr std::string_view units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    ticks.push_back({value / largest_bytes, i == 0 ? "0" : fmt::format("{:g} {}", scaled, units[power])});
  }
  return ticks;
}

std::string percent(double fraction) {
  std::string text = fmt::format("{:.2f}", fraction * 100);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + "%";
}

std::string picture(std::string_view css_class, std::string_view id, int height, std::string_view title,
                    std::string_view desc, std::string_view body) {
  return fmt::format(
      "<svg class=\"{0}\" role=\"img\" width=\"100%\" height=\"{2}\" aria-labelledby=\"{1}-t {1}-d\">"
      "<title id=\"{1}-t\">{3}</title><desc id=\"{1}-d\">{4}</desc>{5}</svg>",
      css_class, id, height, escape_html(title), escape_html(desc), body);
}

std::string time_axis(const std::vector<Tick>& ticks, int top, int bottom) {
  std::string out;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const double at = ticks[i].at;
    const std::string x = percent(at);
    out += fmt::format("<line class=\"grid\" x1=\"{0}\" x2=\"{0}\" y1=\"{1}\" y2=\"{2}\"/>", x, top, bottom);
    const std::string_view anchor = at < 0.03 ? "start" : at > 0.94 ? "end" : "middle";
    out += fmt::format("<text class=\"tick\" x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>", x, bottom + 14, anchor,
                       escape_html(ticks[i].label));
  }
  return out;
}

}  // namespace labrig::reports::svg
