// The chart of task 3: one operator over a range of sizes, on the host, on the card, and on the card with its
// transfers; with the side that a submission chose for each drawn piece of work of that family. For the judge only.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "workloads.hpp"

namespace transfer_cost {

inline labrig::lab::Chart empty_sweep(bool products) {
  labrig::lab::Chart chart;
  chart.id = products ? "products-by-size" : "additions-by-size";
  chart.title = products ? "One product of two square matrices, by size" : "One sum of two vectors, by size";
  chart.read = products ? "Where the whole trip to the card falls below the host, moving pays. The gap between the two "
                          "curves of the card is the price of the transfers: it shrinks as the size grows, because "
                          "arithmetic grows with its cube and bytes with its square."
                        : "The trip to the card never falls below the host: bytes grow as fast as arithmetic does, and "
                          "each of them crosses the bus. What the card gains by computing is the gap below its trip.";
  chart.x = {products ? "rows of a matrix" : "elements of a vector", "", true};
  chart.y = {"time", "ps", true};
  return chart;
}

// The operator alone, its operands on the card already.
inline double compute_seconds(labrig::lab::CostCard& card, const Workload& work) {
  const labrig::Tensor x = labrig::empty(work.shape(), card.device()), y = labrig::empty(work.shape(), card.device());
  const auto once = [&] { work.is_product() ? labrig::matmul(x, y) : labrig::add(x, y); };
  once();  // takes the memory of the result from the driver
  return card.seconds(once);
}

inline labrig::lab::Chart size_sweep(labrig::lab::CostCard& card, Workload::Family family,
                                     std::span<const Workload> drawn, std::span<const std::uint8_t> decisions) {
  constexpr double kPs = 1e12;
  const bool products = family == Workload::Family::product;
  labrig::lab::Chart chart = empty_sweep(products);
  labrig::lab::Chart::Line host{"host", "other", {}}, compute{"card, arithmetic only", "other", {}},
      trip{"card, transfers included", "other", {}}, chosen{"the side that you chose", "yours", {}};
  for (std::int64_t size = products ? 16 : 1 << 10; size <= (products ? 2048 : 1 << 23); size *= products ? 2 : 4) {
    const Workload work{family, size};
    const auto x = static_cast<double>(size);
    host.points.emplace_back(x, kPs * work.host_seconds(card));
    compute.points.emplace_back(x, kPs * compute_seconds(card, work));
    trip.points.emplace_back(x, kPs * work.card_seconds(card));
  }
  for (std::size_t i = 0; i < drawn.size(); ++i)
    if (drawn[i].family == family)
      chosen.points.emplace_back(static_cast<double>(drawn[i].size),
                                 kPs * (decisions[i] != 0 ? drawn[i].card_seconds(card) : drawn[i].host_seconds(card)));
  std::ranges::sort(chosen.points);
  chart.lines = {host, compute, trip, chosen};
  return chart;
}

}  // namespace transfer_cost
