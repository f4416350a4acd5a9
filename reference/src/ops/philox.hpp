// Random numbers from a counter: Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011)
// turns a counter and a key into four words of 32 random bits. Nothing is carried from one value to the next, so that
// the threads of a card draw the same values as a loop on the host.
//
//   value i of a draw (seed, offset):   key = seed, counter = offset + i / 4, word i % 4
//
// Where a value needs 64 bits, the lower 32 come from the same place of a second stream (the upper half of the counter
// is 1). All that follows from the words is calculated with times() and plus() or is exact, and gives the same bits on
// the host and on a card.
#pragma once

#include <cmath>
#include <cstdint>

#include "ops/portable.hpp"

namespace labrig::philox {

struct Words {
  std::uint32_t word[4];
};

LABRIG_HD inline Words one_round(const Words& c, std::uint32_t key0, std::uint32_t key1) {
  const std::uint64_t a = std::uint64_t{0xD2511F53u} * c.word[0], b = std::uint64_t{0xCD9E8D57u} * c.word[2];
  return {{static_cast<std::uint32_t>(b >> 32) ^ c.word[1] ^ key0, static_cast<std::uint32_t>(b),
           static_cast<std::uint32_t>(a >> 32) ^ c.word[3] ^ key1, static_cast<std::uint32_t>(a)}};
}

// The words of a 128-bit counter, given in two halves.
LABRIG_HD inline Words words(std::uint64_t key, std::uint64_t lower, std::uint64_t upper) {
  Words c{{static_cast<std::uint32_t>(lower), static_cast<std::uint32_t>(lower >> 32),
           static_cast<std::uint32_t>(upper), static_cast<std::uint32_t>(upper >> 32)}};
  auto key0 = static_cast<std::uint32_t>(key), key1 = static_cast<std::uint32_t>(key >> 32);
  for (int i = 0; i < 10; ++i) {
    c = one_round(c, key0, key1);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return c;
}

// The word, and the 64 bits, of value i.
LABRIG_HD inline std::uint32_t word_of(std::uint64_t seed, std::uint64_t offset, std::uint64_t i) {
  return words(seed, offset + i / 4, 0).word[i % 4];
}
LABRIG_HD inline std::uint64_t wide_word_of(std::uint64_t seed, std::uint64_t offset, std::uint64_t i) {
  const std::uint64_t upper = word_of(seed, offset, i);
  return upper << 32 | words(seed, offset + i / 4, 1).word[i % 4];
}

// --- from words to values ------------------------------------------------------------------------------------------

// In [0, 1), in steps of 2^-bits, of the upper bits of a word.
LABRIG_HD inline double unit(std::uint32_t word, int bits) {
  return static_cast<double>(word >> (32 - bits)) / static_cast<double>(std::uint64_t{1} << bits);
}
LABRIG_HD inline double unit53(std::uint64_t wide_word) { return static_cast<double>(wide_word >> 11) * 0x1p-53; }

// In (0, 1), never one of the ends: the middles of 2^32 or 2^52 equal pieces.
LABRIG_HD inline double inside(std::uint32_t word) { return (word + 0.5) * 0x1p-32; }
LABRIG_HD inline double inside52(std::uint64_t wide_word) {
  return (static_cast<double>(wide_word >> 12) + 0.5) * 0x1p-52;
}

LABRIG_HD inline double in_range(double unit, double low, double high) {
  return plus(low, times(unit, plus(high, -low)));
}

// In [low, high), as integers that wrap: unsigned 64-bit arithmetic on their bits. No value is preferred by more than
// 2^-64 times the width of the range.
LABRIG_HD inline std::uint64_t integer_in_range(std::uint64_t wide_word, std::uint64_t low, std::uint64_t high) {
  return low + upper_product(wide_word, high - low);
}

// Kept by a dropout with probability p of being dropped.
LABRIG_HD inline bool is_kept(std::uint32_t word, double p) { return unit(word, 24) >= p; }

// a[0] + a[1] x + … + a[n - 1] x^(n - 1)
template <int n>
LABRIG_HD double polynomial(const double (&a)[n], double x) {
  double sum = a[n - 1];
  for (int i = n - 2; i >= 0; --i) sum = plus(times(sum, x), a[i]);
  return sum;
}

// log x for 0 < x < 1 to about 1e-16: with x = m 2^e and s = (m - 1) / (m + 1), log m = 2 (s + s^3/3 + s^5/5 + …).
LABRIG_HD inline double log_of(double x) {
  constexpr double kLogTwo = 0.69314718055994530942;
  constexpr double kOdd[] = {1., 1. / 3, 1. / 5, 1. / 7, 1. / 9, 1. / 11, 1. / 13, 1. / 15, 1. / 17, 1. / 19, 1. / 21};
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // in [1/2, 1)
  if (m < 0.70710678118654752440) {
    m = 2 * m;
    --exponent;
  }
  const double s = (m - 1) / (m + 1);
  return plus(times(exponent, kLogTwo), times(2 * s, polynomial(kOdd, times(s, s))));
}

// The value that a normally distributed number stays below with probability p, 0 < p < 1. Rational functions from
// Wichura, "Algorithm AS 241: the percentage points of the normal distribution", 1988; relative error about 1e-16.
LABRIG_HD inline double normal_quantile(double p) {
  constexpr double kMiddleAbove[] = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                                     1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                     3.3430575583588128105e+4, 2.5090809287301226727e+3};
  constexpr double kMiddleBelow[] = {1,
                                     4.2313330701600911252e+1,
                                     6.8718700749205790830e+2,
                                     5.3941960214247511077e+3,
                                     2.1213794301586595867e+4,
                                     3.9307895800092710610e+4,
                                     2.8729085735721942674e+4,
                                     5.2264952788528545610e+3};
  constexpr double kNearAbove[] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                   3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                   2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr double kNearBelow[] = {1,
                                   2.05319162663775882187e0,
                                   1.67638483018380384940e0,
                                   6.89767334985100004550e-1,
                                   1.48103976427480074590e-1,
                                   1.51986665636164571966e-2,
                                   5.47593808499534494600e-4,
                                   1.05075007164441684324e-9};
  constexpr double kFarAbove[] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                  2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                  2.71155556874348757815e-5, 2.01033439929228813265e-7};
  constexpr double kFarBelow[] = {1,
                                  5.99832206555887937690e-1,
                                  1.36929880922735805310e-1,
                                  1.48753612908506148525e-2,
                                  7.86869131145613259100e-4,
                                  1.84631831751005468180e-5,
                                  1.42151175831644588870e-7,
                                  2.04426310338993978564e-15};
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = plus(0.180625, -times(q, q));
    return times(q, polynomial(kMiddleAbove, r)) / polynomial(kMiddleBelow, r);
  }
  const double r = std::sqrt(-log_of(q < 0 ? p : 1 - p));
  const double magnitude = r <= 5 ? polynomial(kNearAbove, r - 1.6) / polynomial(kNearBelow, r - 1.6)
                                  : polynomial(kFarAbove, r - 5) / polynomial(kFarBelow, r - 5);
  return q < 0 ? -magnitude : magnitude;
}

LABRIG_HD inline double normal(double inside, double mean, double deviation) {
  return plus(mean, times(deviation, normal_quantile(inside)));
}

}  // namespace labrig::philox
