// SPDX-License-Identifier: Apache-2.0
#include "random_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "memory_guard.hpp"
#include "parallel.hpp"
#include "scramble.hpp"

namespace tilehash::app {
namespace {

using generator = std::mt19937_64;

// Ranks 1..n, rank k with a probability proportional to k^-s, in constant time and memory for any s > 0.
// Rejection-inversion, W. Hoermann and G. Derflinger, "Rejection-inversion to generate variates from monotone
// discrete distributions", 1996.
class zipf_ranks {
 public:
  zipf_ranks(std::uint64_t n, double s)
      : n_(static_cast<double>(n)),
        s_(s),
        top_(area(1.5) - 1),
        bottom_(area(n_ + 0.5)),
        certain_(2 - inverse_area(area(2.5) - density(2))) {}

  std::uint64_t operator()(generator& random) const {
    std::uniform_real_distribution<double> uniform;
    for (;;) {
      const double u = bottom_ + uniform(random) * (top_ - bottom_);
      const double x = inverse_area(u);
      const double rank = std::clamp(std::round(x), 1.0, n_);
      if (rank - x <= certain_ || u >= area(rank + 0.5) - density(rank))
        return static_cast<std::uint64_t>(rank);
    }
  }

 private:
  double density(double x) const { return std::exp(-s_ * std::log(x)); }

  // The integral of the density from 1 to x, (x^(1-s) - 1) / (1-s), in a form that stays exact near s = 1.
  double area(double x) const {
    const double log_x = std::log(x);
    const double t = (1 - s_) * log_x;
    return std::abs(t) < 1e-8 ? log_x : std::expm1(t) / t * log_x;
  }

  double inverse_area(double u) const {
    const double t = std::max((1 - s_) * u, -1.0);
    return std::exp(std::abs(t) < 1e-8 ? u : std::log1p(t) / t * u);
  }

  double n_, s_, top_, bottom_, certain_;
};

// A bell over the whole domain: mean in the middle, four standard deviations to either end.
std::uint64_t draw_normal(unsigned key_bits, generator& random) {
  std::normal_distribution<double> bell(0.5, 0.125);
  double x = bell(random);
  while (x < 0 || x >= 1) x = bell(random);
  return static_cast<std::uint64_t>(std::ldexp(x, static_cast<int>(key_bits)));
}

// draw(i) for every i.
template <class Draw>
std::vector<std::uint64_t> draw_keys(std::uint64_t n, Draw draw) {
  auto keys = large_vector<std::uint64_t>(n);
  in_parallel(n, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) keys[i] = draw(i);
  });
  return keys;
}

// draw(random) n times. Each block of keys has a generator of its own, so that they are the same on any
// number of threads.
template <class Draw>
std::vector<std::uint64_t> draw_at_random(std::uint64_t n, std::uint64_t seed, Draw draw) {
  constexpr std::uint64_t each = 1 << 16;
  auto keys = large_vector<std::uint64_t>(n);
  each_in_parallel((n + each - 1) / each, [&](std::size_t block) {
    generator random(scramble::mix(seed) ^ scramble::mix(~std::uint64_t{block}));
    for (std::uint64_t i = block * each; i < std::min(n, (block + 1) * each); ++i) keys[i] = draw(random);
  });
  return keys;
}

}  // namespace

std::vector<std::uint64_t> random_keys(const random_spec& spec, unsigned key_bits, std::uint64_t seed) {
  require_memory(spec.n * sizeof(std::uint64_t), fmt::format("{} random keys", spec.n));
  const scramble nth_key(key_bits, seed);
  switch (spec.shape) {
    case distribution::sequential:
      return draw_keys(spec.n, [](std::uint64_t i) { return i; });
    case distribution::normal:
      return draw_at_random(spec.n, seed, [&](generator& random) { return draw_normal(key_bits, random); });
    case distribution::zipf: {
      // The frequent keys are scrambled: 1, 2, 3 ... would be neighbours in memory as well.
      const zipf_ranks rank(std::max<std::uint64_t>(spec.n, 1), spec.skew);
      return draw_at_random(spec.n, seed, [&](generator& random) { return nth_key(rank(random)); });
    }
    case distribution::uniform:
      break;
  }
  if (spec.unique) return draw_keys(spec.n, nth_key);
  return draw_at_random(spec.n, seed, [&](generator& random) { return random() >> (64 - key_bits); });
}

}  // namespace tilehash::app
