// Work on lines of elements, for reductions and normalisations: the 256 threads of a block form a grid of rows x lanes.
// Each row of threads has one line to itself, and its lanes share the line's elements: lane l takes every lanes-th one
// from l on, then the lanes fold what they have in pairs.
//
//   the line lies in memory side by side:   neighbouring threads are lanes of one line
//   another dimension does:                 neighbouring threads belong to neighbouring lines
//
// so that neighbouring threads read neighbouring elements in both cases. The order of operations depends on the shape
// alone, so a result is the same bits every time.
#pragma once

#include <limits>

#include "elements.cuh"

namespace labrig::cuda {

struct Team {
  int lanes = 1;  // a power of two; lines of a block: kThreads / lanes
  bool side_by_side = true;
  __host__ __device__ int rows() const { return kThreads / lanes; }
};

struct Place {
  int row, lane;
};
__device__ inline Place place_in(const Team& team) {
  const int thread = static_cast<int>(threadIdx.x), rows = team.rows();
  if (team.side_by_side) return {thread / team.lanes, thread % team.lanes};
  return {thread % rows, thread / rows};
}

// What the lanes of a line have, folded in pairs; every lane gets the result. All threads of the block take part.
// `shared` has kThreads elements and may be used again at once.
template <class P, class Fold>
__device__ P fold_lanes(P* shared, const Team& team, Place place, P value, Fold fold) {
  P* mine = shared + place.row * team.lanes + place.lane;
  *mine = value;
  for (int half = team.lanes / 2; half > 0; half /= 2) {
    __syncthreads();
    if (place.lane < half) *mine = fold(mine[0], mine[half]);
  }
  __syncthreads();
  const P result = shared[place.row * team.lanes];
  __syncthreads();
  return result;
}

struct Plus {
  template <class V>
  __device__ V operator()(V a, V b) const {
    return a + b;
  }
};

// Two sums at a time.
template <class V>
struct Pair {
  V first, second;
  __device__ friend Pair operator+(Pair a, Pair b) { return {a.first + b.first, a.second + b.second}; }
};

// --- on the host -----------------------------------------------------------------------------------------------------

inline int power_of_two_at_most(std::int64_t value, int most) {
  int power = 1;
  while (power < most && power * std::int64_t{2} <= value) power *= 2;
  return power;
}

// For `lines` lines of `length` elements.
inline Team team_for(std::int64_t lines, std::int64_t length, bool side_by_side) {
  const int rows_wanted = side_by_side ? 1 : power_of_two_at_most(lines, 32);
  return {power_of_two_at_most(length, kThreads / rows_wanted), side_by_side};
}

inline std::int64_t groups_of(const Team& team, std::int64_t lines) { return (lines + team.rows() - 1) / team.rows(); }

inline unsigned blocks_for_groups(std::int64_t groups, const LaunchContext& context) {
  return static_cast<unsigned>(std::clamp<std::int64_t>(groups, 1, std::int64_t{context.multiprocessors} * 16));
}

// Into how many pieces, one block each, a line is cut where the lines alone (`groups` blocks) do not keep the card
// busy: at most so many that a piece is worth a block and the pieces' results fit into `room` elements for each line.
inline int pieces_for(std::int64_t groups, std::int64_t length, int lanes, std::int64_t room,
                      const LaunchContext& context) {
  const std::int64_t by_work = length / (lanes * std::int64_t{16});
  const std::int64_t wanted = context.multiprocessors * std::int64_t{4} / std::max<std::int64_t>(groups, 1);
  return static_cast<int>(std::max<std::int64_t>(1, std::min({wanted, by_work, room})));
}

}  // namespace labrig::cuda
