// Curves of a lab's judge: a sweep over sizes, a loss by step. A line is told from others by its dashes, the shape of
// its marks and its label at its end, besides its colour. For scripts: svg.lines g.line[data-role]; each mark has a
// <title>.
#pragma once

#include <string>

#include "model.hpp"

namespace labrig::reports::svg {

std::string line_chart(const Chart& chart, const std::string& id);
// What a line looks like, for the key: its classes and the shape of its marks.
std::string line_class(const Chart& chart, std::size_t line);
int line_shape(const Chart& chart, std::size_t line);

inline constexpr std::size_t kMostLines = 8;

}  // namespace labrig::reports::svg
