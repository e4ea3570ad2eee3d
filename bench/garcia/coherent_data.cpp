// SPDX-License-Identifier: Apache-2.0
#include "garcia/coherent_data.hpp"

#include <tilehash/core/hash.hpp>
#include <tilehash/core/layout.hpp>
#include <tilehash/papers/layouts/bit_reversal.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>
#include <random>

#include "garcia/solid.hpp"
#include "numbered.hpp"
#include "parallel.hpp"

namespace tilehash::bench {
namespace {

using vector3 = std::array<double, 3>;

// A smooth function of points that looks random, from 0 to 1, along a row of them: chance at the corners of
// cells, blended between them. `y` and `z` are the row's; what a cell's ends are worth there is reckoned
// once.
class noise_row {
 public:
  noise_row(double y, double z, u64 seed)
      : cell_{0, whole(y), whole(z)}, y_(fade(y)), z_(fade(z)), seed_(seed) {}

  double at(double x) {
    if (const u64 cell = whole(x); !begun_ || cell != cell_[0]) {
      cell_[0] = cell;
      begin_ = end(0), end_ = end(1);
      begun_ = true;
    }
    const double t = fade(x);
    return begin_ * (1 - t) + end_ * t;
  }

 private:
  static u64 whole(double x) { return static_cast<u64>(static_cast<std::int64_t>(std::floor(x))); }
  static double fade(double x) {
    const double t = x - std::floor(x);
    return t * t * (3 - 2 * t);
  }
  double end(u32 right) const {
    double sum = 0;
    for (u32 c = 0; c < 4; ++c) {
      const u32 up[3] = {right, c & 1, c >> 1};
      u64 corner = seed_;
      for (u32 i = 0; i < 3; ++i) corner = mix64(corner + (cell_[i] + up[i]) * 0x9e3779b97f4a7c15ULL + i);
      sum += (up[1] != 0 ? y_ : 1 - y_) * (up[2] != 0 ? z_ : 1 - z_) * drawn(corner);
    }
    return sum;
  }

  std::array<u64, 3> cell_;
  double y_, z_;
  u64 seed_;
  bool begun_ = false;
  double begin_ = 0, end_ = 0;
};

// The points of the least scores are defined.
class model {
 public:
  model(const coherent_data& what, u32 dimensions) : what_(what), dimensions_(dimensions) {
    if (!what.mesh.empty()) {
      inside_.emplace(what.mesh, what.side);
      most_ = 0.5;
      return;
    }
    std::vector<double> sample(1 << 15);
    for (u64 i = 0; i < sample.size(); ++i) {
      u64 p[3]{};
      for (u32 k = 0; k < dimensions; ++k) p[k] = uniform_number(3 * i + k, what.side);
      sample[i] = row(*this, p[1], p[2]).score(p[0]);
    }
    const auto at = static_cast<u64>(what.share * static_cast<double>(sample.size()));
    std::ranges::nth_element(sample, sample.begin() + static_cast<std::ptrdiff_t>(at));
    most_ = what.model == "random" ? what.share : sample[at];
  }

  class row {
   public:
    row(const model& of, u64 y, u64 z)
        : side_(of.what_.side),
          y_(y),
          z_(z),
          dimensions_(of.dimensions_),
          most_(of.most_),
          inside_(of.inside_ ? &*of.inside_ : nullptr) {
      const double scaled_y = static_cast<double>(y) / static_cast<double>(side_);
      const double scaled_z = static_cast<double>(z) / static_cast<double>(side_);
      const auto add = [&](double x_scale, double y_scale, double z_scale, double weight, u64 seed) {
        parts_.push_back({x_scale, weight, {scaled_y * y_scale, scaled_z * z_scale, seed}});
      };
      if (of.what_.model == "structured") {
        for (u64 i = 0; i < 3; ++i) {
          const double scale = std::pow(4.0, i) * 8;
          add(scale, scale, scale, std::pow(0.5, i), 1 + i);
        }
      } else if (of.what_.model == "hairy") {
        hairy_ = true;
        add(40, 40, 10, 1, 7), add(40, 40, 10, 1, 11);
      }
    }
    bool defined(u64 x) { return score(x) < most_; }
    double score(u64 x) {
      if (inside_ != nullptr) return inside_->has(x, y_, z_) ? 0 : 1;
      if (parts_.empty()) return drawn((z_ * side_ + y_) * side_ + x + 0x72616e64);
      const double at = static_cast<double>(x) / static_cast<double>(side_);
      if (!hairy_) {
        double sum = 0;
        for (part& p : parts_) sum += p.weight * p.noise.at(at * p.scale);
        return sum;
      }
      // Where two surfaces meet, or in a picture, lines.
      const auto from_surface = [&](part& p) { return std::abs(p.noise.at(at * p.scale) - 0.5); };
      const double one = from_surface(parts_[0]);
      return dimensions_ == 2 ? one : std::max(one, from_surface(parts_[1]));
    }

   private:
    struct part {
      double scale, weight;
      noise_row noise;
    };
    u64 side_, y_, z_;
    u32 dimensions_;
    double most_;
    const solid* inside_;
    bool hairy_ = false;
    std::vector<part> parts_;  // none: each point by chance
  };

 private:
  const coherent_data& what_;
  u32 dimensions_;
  double most_ = 0;
  std::optional<solid> inside_;
};

template <class Layout>
constexpr u32 dimensions_of = sizeof(typename Layout::point_type) / sizeof(u32);

template <u32 D>
grid_point<D> cut(const grid_point<3>& p) {
  grid_point<D> q{};
  for (u32 i = 0; i < D; ++i) q[i] = p[i];
  return q;
}

// Where the pixels of a slice, or of a picture that is turned, lie: `across` and `down` are its axes.
struct plane {
  vector3 across, down;
};

vector3 scaled(const vector3& a, double by) { return {a[0] * by, a[1] * by, a[2] * by}; }
double dot(const vector3& a, const vector3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
vector3 unit(const vector3& a) { return scaled(a, 1 / std::sqrt(dot(a, a))); }

std::vector<plane> planes_of(const coherent_data& what) {
  if (what.how == coherent_data::access::turned) {
    const double angle = what.degrees * std::numbers::pi / 180, c = std::cos(angle), s = std::sin(angle);
    return {{{c, s, 0}, {-s, c, 0}}};
  }
  std::mt19937_64 random(5);
  std::normal_distribution<double> any;
  std::vector<plane> planes;
  for (u32 i = 0; i < what.slices; ++i) {
    const vector3 a = unit({any(random), any(random), any(random)}), b{any(random), any(random), any(random)};
    const double along = dot(a, b);
    planes.push_back({a, unit({b[0] - along * a[0], b[1] - along * a[1], b[2] - along * a[2]})});
  }
  return planes;
}

// Where each row's points begin among those of all rows, of which it has count(row); and at the end, of how
// many.
template <class Count>
std::vector<u64> starts_of(u64 rows, const Count& count) {
  std::vector<u64> starts(rows + 1);
  app::each_in_parallel(rows, [&](u64 row) { starts[row + 1] = count(row); });
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  return starts;
}

template <class Layout>
given_keys made(const coherent_data& what) {
  constexpr u32 d = dimensions_of<Layout>;
  const u64 side = what.side, depth = d == 3 ? side : 1;
  grid_point<d> extents{};
  for (u32& n : extents.at) n = what.side;
  const Layout layout(extents);
  const model model(what, d);
  const auto key_at = [&](u64 x, u64 y, u64 z) {
    return layout.encode(cut<d>({static_cast<u32>(x), static_cast<u32>(y), static_cast<u32>(z)}));
  };

  std::vector<u8> defined(side * side * depth);
  const std::vector<u64> keys_at = starts_of(side * depth, [&](u64 row) {
    model::row its(model, row % side, row / side);
    u64 count = 0;
    for (u64 x = 0; x < side; ++x) count += (defined[row * side + x] = u8{its.defined(x)});
    return count;
  });
  given_keys given;
  given.keys.resize(keys_at.back());
  app::each_in_parallel(side * depth, [&](u64 row) {
    u64 at = keys_at[row];
    for (u64 x = 0; x < side; ++x) {
      if (defined[row * side + x] != 0) given.keys[at++] = key_at(x, row % side, row / side);
    }
  });
  if (what.how == coherent_data::access::rows) {
    given.questions.resize(defined.size());
    app::each_in_parallel(side * depth, [&](u64 row) {
      for (u64 x = 0; x < side; ++x) given.questions[row * side + x] = key_at(x, row % side, row / side);
    });
    given.there = std::move(defined);
    return given;
  }
  const std::vector<plane> planes = planes_of(what);
  const double middle = static_cast<double>(side - 1) / 2, away = d == 3 ? middle : 0;
  // use(x, y, z) for the pixels of a row of all planes that lie inside.
  const auto visit = [&](u64 row, const auto& use) {
    const plane& p = planes[row / side];
    for (u64 column = 0; column < side; ++column) {
      const double u = static_cast<double>(column) - middle, v = static_cast<double>(row % side) - middle;
      std::array<std::int64_t, 3> at{};
      bool inside = true;
      for (u32 i = 0; i < 3; ++i) {
        at[i] = std::llround((i == 2 ? away : middle) + u * p.across[i] + v * p.down[i]);
        inside = inside && at[i] >= 0 && at[i] < static_cast<std::int64_t>(i == 2 ? depth : side);
      }
      if (inside) use(static_cast<u64>(at[0]), static_cast<u64>(at[1]), static_cast<u64>(at[2]));
    }
  };
  const u64 rows = planes.size() * side;
  const std::vector<u64> asked_at = starts_of(rows, [&](u64 row) {
    u64 count = 0;
    visit(row, [&](u64 /*x*/, u64 /*y*/, u64 /*z*/) { ++count; });
    return count;
  });
  given.questions.resize(asked_at.back());
  given.there.resize(asked_at.back());
  app::each_in_parallel(rows, [&](u64 row) {
    u64 at = asked_at[row];
    visit(row, [&](u64 x, u64 y, u64 z) {
      given.questions[at] = key_at(x, y, z);
      given.there[at++] = defined[(z * side + y) * side + x];
    });
  });
  return given;
}

template <u32 D>
given_keys made_in(const coherent_data& what) {
  if (what.layout == "morton") return made<morton<u32, D>>(what);
  if (what.layout == "hilbert") return made<hilbert<u32, D>>(what);
  if (what.layout == "bit_reversal") return made<papers::bit_reversal<u32, D>>(what);
  return made<row_major<u32, D>>(what);
}

}  // namespace

given_keys make_given(const coherent_data& what) {
  return what.how == coherent_data::access::slices ? made_in<3>(what) : made_in<2>(what);
}

}  // namespace tilehash::bench
