// Labels of the outermost ticks are anchored inwards, so that none is cut at the edge.
#include "svg/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "text.hpp"
#include "units.hpp"

namespace labrig::reports::svg {
namespace {

// 1, 2 or 5 times a power of ten, not below `step`.
double round_step(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (step <= power * factor * (1 + 1e-9)) return power * factor;
  }
  return power * 10;
}

constexpr std::string_view kShapes[] = {"", "M0-5L5 0L0 5L-5 0Z", "M0-5L5 4H-5Z", "M-4-4H4V4H-4Z",
                                        "M-4-4L4 4M-4 4L4-4"};

}  // namespace

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

std::optional<double> Scale::at(double value) const {
  if (!std::isfinite(value) || (logarithmic && !(value > 0))) return std::nullopt;
  const double place = logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  return std::clamp(place, 0.0, 1.0);
}

std::vector<Tick> Scale::ticks(int most) const {
  std::vector<Tick> out;
  const auto add = [&](double value) {
    if (const auto place = at(value)) out.push_back({*place, human(value, unit)});
  };
  if (logarithmic) {
    const int first = static_cast<int>(std::ceil(std::log10(low) - 1e-9)),
              last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
    const int step = std::max(1, (last - first + most - 1) / most);
    for (int power = first; power <= last; power += step) add(std::pow(10, power));
    return out;
  }
  const double step = round_step((high - low) / most);
  for (double i = std::ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) add(i * step);
  return out;
}

Scale scale_of(const std::vector<double>& values, bool logarithmic, std::string unit) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : values) {
    if (!std::isfinite(value) || (logarithmic && !(value > 0))) continue;
    low = std::min(low, value), high = std::max(high, value);
  }
  if (!(low <= high)) low = high = 1;
  if (logarithmic) {
    low = std::pow(10, std::floor(std::log10(low) + 1e-9)), high = std::pow(10, std::ceil(std::log10(high) - 1e-9));
    if (!(low < high)) high = low * 10;
  } else {
    if (low > 0 && low < high / 2) low = 0;
    if (!(low < high)) high = low + std::max(std::abs(low) / 10, 1e-9);
    const double step = round_step((high - low) / 4);
    low = std::floor(low / step) * step, high = std::ceil(high / step) * step;
  }
  return {low, high, logarithmic, std::move(unit)};
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

double height_at(double fraction, int top, int bottom) { return top + (1 - fraction) * (bottom - top); }

std::string value_axis(const std::vector<Tick>& ticks, int top, int bottom) {
  std::string out;
  for (const Tick& tick : ticks) {
    const double y = height_at(tick.at, top, bottom);
    out += fmt::format("<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{0:.5g}\" y2=\"{0:.5g}\"/>", y);
    if (tick.at > 0) {
      out +=
          fmt::format("<text class=\"tick halo\" x=\"2\" y=\"{:.5g}\" dy=\"-3\">{}</text>", y, escape_html(tick.label));
    }
  }
  return out;
}

std::string mark(std::string_view css_class, double at, double y, int shape, std::string_view title) {
  const std::string inside = title.empty() ? "" : "<title>" + escape_html(title) + "</title>";
  // A disc needs no picture of its own to stay round in one that stretches.
  if (shape == 0) {
    return fmt::format("<circle class=\"mark {}\" cx=\"{}\" cy=\"{:.4g}\" r=\"4\">{}</circle>", css_class, percent(at),
                       y, inside);
  }
  return fmt::format("<svg class=\"mark {}\" x=\"{}\" y=\"{:.4g}\"><path d=\"{}\">{}</path></svg>", css_class,
                     percent(at), y, kShapes[static_cast<std::size_t>(shape) % std::size(kShapes)], inside);
}

std::string beside(std::string_view css_class, double at, double y, std::string_view text) {
  const bool left = at > 0.6;
  return fmt::format("<text class=\"{} halo\" x=\"{}\" y=\"{:.5g}\" dx=\"{}\" dy=\"4\" text-anchor=\"{}\">{}</text>",
                     css_class, percent(at), y, left ? -9 : 9, left ? "end" : "start", escape_html(text));
}

}  // namespace labrig::reports::svg
