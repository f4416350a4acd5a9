// Layouts: the arithmetic of views, and PyTorch's texts for those that cannot be.
#include "labrig/layout.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "expect_error.hpp"
#include "tensor/view.hpp"

namespace labrig {
namespace {

using test::expect_error;

// The offsets of all elements in row-major order of the sizes.
std::vector<std::int64_t> offsets(const Layout& layout) {
  std::vector<std::int64_t> result{layout.offset};
  for (int d = 0; d < layout.dim(); ++d) {
    std::vector<std::int64_t> next;
    for (const std::int64_t start : result) {
      for (std::int64_t i = 0; i < layout.sizes[d]; ++i) next.push_back(start + i * layout.strides[d]);
    }
    result = next;
  }
  return result;
}

TEST(Dims, PrintsAsPyTorchDoes) {
  EXPECT_EQ(Dims({2, 3}).str(), "[2, 3]");
  EXPECT_EQ(Dims().str(), "[]");
}

TEST(Dims, SaturatesAProductThatDoesNotFit) {
  EXPECT_EQ(Dims({std::int64_t{1} << 40, std::int64_t{1} << 40}).product(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(Dims({std::int64_t{1} << 40, std::int64_t{1} << 40, 0}).product(), 0);
}

TEST(Dims, RefusesASeventhDimension) {
  expect_error("too-many-dimensions", "a tensor has at most 6 dimensions, not 7", [] { Dims({1, 1, 1, 1, 1, 1, 1}); });
  Dims six({1, 1, 1, 1, 1, 1});
  expect_error("too-many-dimensions", "a tensor has at most 6 dimensions, not 7", [&] { six.push_back(1); });
}

TEST(Layout, IsContiguousWhateverTheStrideOfADimensionOfSizeOne) {
  EXPECT_TRUE((Layout{{2, 1, 3}, {3, 99, 1}}.is_contiguous()));
  EXPECT_FALSE((Layout{{2, 3}, {1, 2}}.is_contiguous()));
  EXPECT_TRUE((Layout{{0, 3}, {7, 7}}.is_contiguous()));
}

TEST(Layout, OfNothingMayHaveSizesWhoseProductOverflows) {
  const std::int64_t large = std::int64_t{1} << 40;
  const Layout layout = Layout::contiguous({0, large, large, large});
  EXPECT_EQ(layout.numel(), 0);
  EXPECT_TRUE(layout.is_contiguous());
}

TEST(Layout, NarrowsSelectsAndTransposes) {
  const Layout layout = Layout::contiguous({2, 3, 4});
  EXPECT_EQ(offsets(layout.narrow(1, 1, 2).select(0, -1).select(1, 3)), (std::vector<std::int64_t>{19, 23}));
  EXPECT_EQ(offsets(layout.transpose(0, -1).select(1, 0).select(0, 1)), (std::vector<std::int64_t>{1, 13}));
  EXPECT_EQ(layout.permute({2, 0, 1}).sizes, Dims({4, 2, 3}));
  EXPECT_EQ(layout.narrow(0, -1, 1).offset, 12);
}

TEST(Layout, ClampsSlicesAsPythonDoes) {
  const Layout line = Layout::contiguous({10});
  EXPECT_EQ(offsets(line.slice(0, 1, 8, 3)), (std::vector<std::int64_t>{1, 4, 7}));
  EXPECT_EQ(offsets(line.slice(0, -3, 100, 1)), (std::vector<std::int64_t>{7, 8, 9}));
  EXPECT_EQ(line.slice(0, 8, 2, 1).sizes, Dims({0}));
  EXPECT_EQ(line.slice(0, 0, 10, std::numeric_limits<std::int64_t>::max()).sizes, Dims({1}));
}

TEST(Layout, AddsAndRemovesDimensionsOfSizeOne) {
  const Layout layout = Layout::contiguous({2, 3});
  EXPECT_EQ(layout.unsqueeze(-1).sizes, Dims({2, 3, 1}));
  EXPECT_TRUE(layout.unsqueeze(1).is_contiguous());
  EXPECT_EQ(layout.unsqueeze(0).squeeze(0).sizes, Dims({2, 3}));
  EXPECT_EQ(layout.squeeze(0).sizes, Dims({2, 3}));
}

TEST(Layout, ExpandsWithStrideZero) {
  const Layout expanded = Layout::contiguous({3, 1}).expand({2, -1, 4});
  EXPECT_EQ(expanded.sizes, Dims({2, 3, 4}));
  EXPECT_EQ(expanded.strides, Dims({0, 1, 0}));
}

TEST(Layout, CountsTheElementsItSpans) {
  EXPECT_EQ(Layout::contiguous({2, 3}).span_elements(), 6);
  EXPECT_EQ((Layout{{2, 2}, {10, 3}}.span_elements()), 14);
  EXPECT_EQ(Layout::contiguous({0, 3}).span_elements(), 0);
}

TEST(Layout, ViewsCutChunksThatLieTogether) {
  const Layout rows{{2, 3, 4}, {24, 4, 1}};
  EXPECT_EQ(rows.view({2, 12}).strides, Dims({24, 1}));
  EXPECT_EQ(rows.view({2, 2, 6}).strides, Dims({24, 6, 1}));
  EXPECT_EQ(rows.view({2, 1, -1}).sizes, Dims({2, 1, 12}));

  EXPECT_FALSE(try_view(rows, {6, 4}).has_value());
  EXPECT_FALSE(try_view(rows, {24}).has_value());
}

TEST(Layout, EveryViewOfEveryPermutationShowsTheElementsInOrder) {
  const Layout base = Layout::contiguous({2, 3, 4});
  const Dims orders[] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  const Dims shapes[] = {{24}, {2, 12}, {12, 2}, {6, 4}, {4, 6}, {8, 3}, {3, 8}, {1, 24, 1}, {2, 2, 6}, {2, 3, 2, 2}};
  int views = 0;
  for (const Dims& order : orders) {
    const Layout layout = base.permute(order);
    for (const Dims& shape : shapes) {
      const auto view = try_view(layout, shape);
      if (!view) continue;
      ++views;
      EXPECT_EQ(offsets(*view), offsets(layout)) << order.str() << " as " << shape.str();
    }
  }
  EXPECT_GT(views, 10);
}

TEST(Layout, RefusesAViewAcrossChunksWithPyTorchsText) {
  expect_error(
      "view-size-incompatible",
      "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
      "contiguous subspaces). Use .reshape(...) instead.",
      [] { Layout::contiguous({2, 3}).transpose(0, 1).view({6}); });
}

TEST(Layout, RefusesAShapeOfAnotherSizeWithPyTorchsText) {
  const Layout layout = Layout::contiguous({2, 3});
  expect_error("invalid-shape", "shape '[4, 2]' is invalid for input of size 6", [&] { layout.view({4, 2}); });
  expect_error("invalid-shape", "shape '[4, -1]' is invalid for input of size 6", [&] { layout.view({4, -1}); });
  expect_error("invalid-shape", "only one dimension can be inferred", [&] { layout.view({-1, -1}); });
  expect_error("invalid-shape", "invalid shape dimension -2", [&] { layout.view({-2, 3}); });
}

TEST(Layout, RefusesIndicesOutsideWithPyTorchsText) {
  const Layout layout = Layout::contiguous({2, 3});
  expect_error("index-out-of-range", "index 5 is out of bounds for dimension 0 with size 2",
               [&] { layout.select(0, 5); });
  expect_error("index-out-of-range", "start (1) + length (3) exceeds dimension size (3).",
               [&] { layout.narrow(1, 1, 3); });
  expect_error("index-out-of-range", "start out of range (expected to be in range of [-3, 3], but got 4)",
               [&] { layout.narrow(1, 4, 0); });
  expect_error("index-out-of-range", "narrow(): length must be non-negative.", [&] { layout.narrow(1, 0, -1); });
  expect_error("index-out-of-range", "slice step must be positive", [&] { layout.slice(0, 0, 2, 0); });
  expect_error("index-out-of-range", "select() cannot be applied to a 0-dim tensor.", [] { Layout{}.select(0, 0); });
  expect_error("dimension-out-of-range", "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
               [&] { layout.transpose(0, 2); });
}

TEST(Layout, RefusesAWrongPermutation) {
  const Layout layout = Layout::contiguous({2, 3});
  expect_error("shape-mismatch", "permute(): duplicate dims are not allowed.", [&] { layout.permute({0, -2}); });
  EXPECT_EQ(test::error_of([&] { layout.permute({0}); }).code(), "shape-mismatch");
}

TEST(Layout, RefusesToExpandASizeWithPyTorchsText) {
  expect_error(
      "shape-mismatch",
      "The expanded size of the tensor (4) must match the existing size (3) at non-singleton dimension 1.  Target "
      "sizes: [2, 4].  Tensor sizes: [2, 3]",
      [] { Layout::contiguous({2, 3}).expand({2, 4}); });
}

TEST(BroadcastSizes, LinesShapesUpFromTheRight) {
  EXPECT_EQ(broadcast_sizes({2, 3}, {3}), Dims({2, 3}));
  EXPECT_EQ(broadcast_sizes({2, 1}, {5, 1, 4}), Dims({5, 2, 4}));
  EXPECT_EQ(broadcast_sizes({}, {2}), Dims({2}));
  EXPECT_EQ(broadcast_sizes({1}, {0}), Dims({0}));
}

TEST(BroadcastSizes, SaysPyTorchsTextAndBothShapes) {
  const auto call = [] { broadcast_sizes({2, 3}, {2}); };
  expect_error("shape-mismatch",
               "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 1", call);
  EXPECT_NE(test::error_of(call).why().find("in [2, 3] and [2] 3 meets 2"), std::string::npos);
}

TEST(Layout, ExpandsToNoNegativeSize) {
  expect_error("shape-mismatch", "Trying to create tensor with negative dimension -3: [-3]",
               [] { Layout::contiguous({1}).expand({-3}); });
  EXPECT_EQ(Layout::contiguous({1}).expand({-1}).sizes, Dims({1}));
}

}  // namespace
}  // namespace labrig
