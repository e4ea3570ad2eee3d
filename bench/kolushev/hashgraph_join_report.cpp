// SPDX-License-Identifier: Apache-2.0
#include "kolushev/hashgraph_join_report.hpp"

#include <fmt/format.h>

#include "fields.hpp"

namespace tilehash::bench {

const char* name_of(join_kind kind) {
  switch (kind) {
    case join_kind::inner:
      return "inner";
    case join_kind::left:
      return "left";
    case join_kind::semi:
      return "semi";
    default:
      return "anti";
  }
}

const char* name_of(join_skew skew) {
  switch (skew) {
    case join_skew::none:
      return "none";
    case join_skew::left:
      return "left";
    default:
      return "right";
  }
}

fields fields_of(const join_measurement& m) {
  fields all{{"design", m.design, "design", -22},
             {"space", m.space},
             {"kind", name_of(m.what.kind), "kind", -5},
             {"left", m.what.left, "left", 10},
             {"right", m.what.right, "right", 10},
             {"copies", m.what.copies, "copies", 7},
             {"skew", name_of(m.what.skew), "skew", -5},
             {"found", m.what.found, "found", 5, "g"},
             {"key_bytes", sizeof(u32)}};
  if (!m.obstacle.empty()) {
    all.push_back({"obstacle", m.obstacle, "", -1});
    return all;
  }
  const auto& both = m.all;
  all.insert(all.end(), {{"", m.build.median, "build", 9, ".5f"},
                         {"", m.join.median, "join", 9, ".5f"},
                         {"", both.median, "both", 9, ".5f"},
                         {"", fmt::format("({:.5f} to {:.5f})", both.min, both.max), "", 22},
                         {"", m.rate(both.median), "out", 7, ".3f", 1e-9},
                         {"", m.rate_in(both.median), "in", 7, ".3f", 1e-9}});
  all.push_back({"rows", m.rows});
  all.push_back(
      {"seconds", {{"build", as_json(m.build)}, {"join", as_json(m.join)}, {"both", as_json(m.all)}}});
  all.push_back(
      {"grows_per_s", {{"out", m.rate(m.all.median) / 1e9}, {"in", m.rate_in(m.all.median) / 1e9}}});
  all.push_back(wrong_answers(m.wrong));
  return all;
}

}  // namespace tilehash::bench
