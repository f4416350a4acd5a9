// The bands lie on a logarithmic axis from 0.8 to 8: twice as much is the same step everywhere.
#include "svg/bars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bands.hpp"
#include "svg/axis.hpp"
#include "units.hpp"

namespace labrig::reports::svg {
namespace {

constexpr double kFrom = 0.8, kTo = 8;

double place(double ratio) {
  if (!(ratio > kFrom)) return 0;
  return std::min(1.0, std::log(ratio / kFrom) / std::log(kTo / kFrom));
}

}  // namespace

std::string score_bar(double score, bool passed, std::optional<double> pass_mark, const std::string& id) {
  score = std::clamp(score, 0.0, 1.0);
  std::string body = fmt::format(
      "<rect class=\"track\" x=\"0\" y=\"2\" width=\"100%\" height=\"10\" rx=\"2\"/>"
      "<rect class=\"fill\" x=\"0\" y=\"2\" width=\"{}\" height=\"10\" rx=\"2\"/>",
      percent(score));
  std::string description = fmt::format("{} of the points", percent_text(score));
  if (pass_mark) {
    // A light edge under the line, so that it shows on the filled part as well.
    for (const std::string_view css_class : {"edge", "mark"}) {
      body += fmt::format("<line class=\"{0}\" x1=\"{1}\" x2=\"{1}\" y1=\"0\" y2=\"14\"/>", css_class,
                          percent(std::clamp(*pass_mark, 0.0, 1.0)));
    }
    description += fmt::format("; the pass mark is at {}", percent_text(*pass_mark));
  }
  return picture(passed ? "score-bar above" : "score-bar below", id, 14, "Score", description, body);
}

std::string ratio_bands(double ratio, const std::string& id) {
  constexpr int kBandTop = 20, kBandHeight = 20;
  std::string body;
  double from = kFrom;
  for (std::size_t i = 0; i <= kRatioBands.size(); ++i) {
    const bool last = i == kRatioBands.size();  // beyond all bands
    const auto [up_to, share] = last ? Band{kTo, 0} : kRatioBands[i];
    const double x = place(from), end = place(up_to);
    const bool here = ratio_share(ratio) == share;
    body += fmt::format("<rect class=\"band b{}{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>", i,
                        here ? " here" : "", percent(x), kBandTop, percent(end - x), kBandHeight);
    body += fmt::format("<text class=\"band-share{}\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{:.0f}%</text>",
                        here ? " here" : "", percent((x + end) / 2), kBandTop + 14, share * 100);
    if (!last) {
      body += fmt::format("<text class=\"tick\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{:g}</text>", percent(end),
                          kBandTop + kBandHeight + 13, up_to);
    }
    from = up_to;
  }
  const double at = place(ratio);
  const std::string_view anchor = at < 0.08 ? "start" : at > 0.92 ? "end" : "middle";
  body += fmt::format(
      "<svg x=\"{}\" y=\"0\" width=\"1\" height=\"20\" overflow=\"visible\"><path class=\"marker\" d=\"M-5 13H5L0 "
      "19Z\"/></svg>"
      "<text class=\"marker-text\" x=\"{}\" y=\"10\" text-anchor=\"{}\">{}</text>",
      percent(at), percent(at), anchor, ratio_text(ratio));
  return picture("bands", id, kBandTop + kBandHeight + 18, "Ratio to the reference",
                 fmt::format("{} earns {} of the points. Full points up to 1.15, 75 % up to 1.5, 50 % up to 2, 25 % up "
                             "to 3, 10 % up to 5, none beyond.",
                             ratio_text(ratio), percent_text(ratio_share(ratio))),
                 body);
}

}  // namespace labrig::reports::svg
