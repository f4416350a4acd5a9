// A run without bytes or flops has no place on the roofline; the ceilings are drawn as far as the axes reach.
#include "svg/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "svg/axis.hpp"
#include "units.hpp"

namespace labrig::reports::svg {
namespace {

constexpr int kTop = 32, kBottom = 216;
constexpr double kWide = 1000;

struct Axes {
  Scale x, y;
  double at_x(double value) const { return x.at(value).value_or(0); }
  double at_y(double value) const { return height_at(y.at(value).value_or(0), kTop, kBottom); }
};

Axes axes_of(const Card& card, const std::vector<RoofPoint>& points) {
  const double ridge = card.flops_per_s / card.memory_bytes_per_s;
  std::vector<double> xs = {ridge / 30, ridge * 30}, ys = {card.flops_per_s, card.matrix_flops_per_s};
  for (const RoofPoint& point : points) {
    xs.push_back(point.intensity);
    ys.insert(ys.end(), {point.kernels_per_s, point.run_per_s});
  }
  return {scale_of(xs, true, ""), scale_of(ys, true, "flops")};
}

// A ceiling: rising with the memory's rate, then flat.
std::string ceiling(const Card& card, double rate, std::string_view css_class, const Axes& axes) {
  const double slope_from = std::max(axes.x.low, axes.y.low / card.memory_bytes_per_s),
               bend = std::clamp(rate / card.memory_bytes_per_s, slope_from, axes.x.high);
  return fmt::format("<path class=\"{}\" d=\"M{:.4g} {:.4g}L{:.4g} {:.4g}H{:.4g}\"/>", css_class,
                     axes.at_x(slope_from) * kWide, axes.at_y(slope_from * card.memory_bytes_per_s),
                     axes.at_x(bend) * kWide, axes.at_y(std::min(rate, bend * card.memory_bytes_per_s)), kWide);
}

std::string rate_text(double flops_per_s) { return human(flops_per_s, "flops") + "/s"; }

// The two marks of a run, joined by a line.
std::string draw(const RoofPoint& point, std::string_view whose, std::string_view label, const Axes& axes) {
  const double x = axes.at_x(point.intensity), kernels = axes.at_y(point.kernels_per_s),
               run = axes.at_y(point.run_per_s);
  const int shape = whose == "yours" ? 0 : 1;
  std::string out = fmt::format("<line class=\"drop {0}\" x1=\"{1}\" x2=\"{1}\" y1=\"{2:.5g}\" y2=\"{3:.5g}\"/>", whose,
                                percent(x), kernels, run);
  const std::string intensity = count_text(point.intensity) + " flops per byte";
  out += mark(whose, x, kernels, shape,
              fmt::format("{}, kernels alone: {} at {}", label, rate_text(point.kernels_per_s), intensity));
  out += mark(fmt::format("{} hollow", whose), x, run, shape,
              fmt::format("{}, the whole run: {} at {}", label, rate_text(point.run_per_s), intensity));
  return out;
}

bool near(const RoofPoint& a, const RoofPoint& b, const Axes& axes) {
  return std::abs(axes.at_x(a.intensity) - axes.at_x(b.intensity)) < 0.004 &&
         std::abs(axes.at_y(a.kernels_per_s) - axes.at_y(b.kernels_per_s)) < 4 &&
         std::abs(axes.at_y(a.run_per_s) - axes.at_y(b.run_per_s)) < 4;
}

std::string draw_points(const std::optional<RoofPoint>& yours, const std::optional<RoofPoint>& reference,
                        const Axes& axes) {
  std::string out;
  const bool same = yours && reference && near(*yours, *reference, axes);
  if (reference && !same) {
    out += draw(*reference, "reference", "reference", axes);
    // Below the whole run where the student's label stands above the kernels.
    out += beside("line-label reference", axes.at_x(reference->intensity), axes.at_y(reference->run_per_s) + 10,
                  "reference");
  }
  if (yours) {
    out += draw(*yours, "yours", "yours", axes);
    out += beside("line-label yours", axes.at_x(yours->intensity), axes.at_y(yours->kernels_per_s) - 9,
                  same ? "yours and the reference" : "yours");
  }
  return out;
}

std::string describe(const Card& card, const std::optional<RoofPoint>& yours,
                     const std::optional<RoofPoint>& reference) {
  std::string out = fmt::format("The card moves {} per second and computes {} in f32.",
                                bytes_text(card.memory_bytes_per_s), rate_text(card.flops_per_s));
  for (const auto& [point, who] : {std::pair{yours, "Your submission"}, std::pair{reference, "Reference"}}) {
    if (!point) continue;
    out += fmt::format(" {}: {} flops per byte, {} while kernels ran, {} over the whole run.", who,
                       count_text(point->intensity), rate_text(point->kernels_per_s), rate_text(point->run_per_s));
  }
  return out;
}

}  // namespace

std::optional<RoofPoint> roof_point(const Numbers& metrics) {
  const auto positive = [&](std::string_view name) { return find(metrics, name).value_or(0); };
  const double flops = positive("device_flops"), bytes = positive("device_bytes"), busy = positive("busy_compute_ps"),
               time = positive("time_ps");
  if (!(flops > 0 && bytes > 0 && busy > 0 && time > 0)) return std::nullopt;
  return RoofPoint{flops / bytes, flops / busy * 1e12, flops / time * 1e12};
}

double roof_at(const Card& card, double intensity) {
  return std::min(card.flops_per_s, card.memory_bytes_per_s * intensity);
}

std::string roofline(const Card& card, const Numbers& yours, const Numbers& reference, const std::string& id) {
  const auto mine = roof_point(yours), theirs = roof_point(reference);
  if ((!mine && !theirs) || !(card.flops_per_s > 0) || !(card.memory_bytes_per_s > 0)) return {};
  std::vector<RoofPoint> points;
  for (const auto& point : {mine, theirs}) {
    if (point) points.push_back(*point);
  }
  const Axes axes = axes_of(card, points);
  std::string roofs = ceiling(card, card.flops_per_s, "roof", axes);
  std::string labels =
      fmt::format("<text class=\"roof-text halo\" x=\"100%\" y=\"{:.5g}\" dy=\"14\" text-anchor=\"end\">f32: {}</text>",
                  axes.at_y(card.flops_per_s), rate_text(card.flops_per_s));
  if (card.matrix_flops_per_s > card.flops_per_s) {
    roofs += ceiling(card, card.matrix_flops_per_s, "roof matrix", axes);
    labels += fmt::format(
        "<text class=\"roof-text halo\" x=\"100%\" y=\"{:.5g}\" dy=\"-4\" text-anchor=\"end\">matrix products: "
        "{}</text>",
        axes.at_y(card.matrix_flops_per_s), rate_text(card.matrix_flops_per_s));
  }
  const double slope = std::sqrt(axes.x.low * card.flops_per_s / card.memory_bytes_per_s);
  labels += fmt::format("<text class=\"roof-text halo\" x=\"{}\" y=\"{:.5g}\" dx=\"10\" dy=\"14\">memory: {}/s</text>",
                        percent(axes.at_x(slope)), axes.at_y(slope * card.memory_bytes_per_s),
                        bytes_text(card.memory_bytes_per_s));
  const std::string nested = fmt::format(
      "<svg x=\"0\" y=\"0\" width=\"100%\" height=\"{0}\" viewBox=\"0 0 {1} {0}\" "
      "preserveAspectRatio=\"none\">{2}</svg>",
      kBottom, kWide, roofs);
  const std::string names = fmt::format(
      "<text class=\"axis\" x=\"2\" y=\"11\">flops per second</text><text class=\"axis\" x=\"100%\" y=\"{}\" "
      "text-anchor=\"end\">flops per byte of device memory</text>",
      kBottom + 30);
  return picture("chart roofline", id, kBottom + 36, "Roofline", describe(card, mine, theirs),
                 value_axis(axes.y.ticks(4), kTop, kBottom) + time_axis(axes.x.ticks(6), kTop, kBottom) + nested +
                     labels + draw_points(mine, theirs, axes) + names);
}

}  // namespace labrig::reports::svg
