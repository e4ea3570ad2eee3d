// SPDX-License-Identifier: Apache-2.0
#include "kolushev/hashgraph_cells_report.hpp"

#include "report.hpp"

namespace tilehash::bench {

fields fields_of(const cells_measurement& m) {
  fields all{{"design", m.design, "design", -26},
             {"space", m.space},
             {"threads", m.threads, "threads", 7},
             {"data", m.what.data, "data", -12},
             {"cells", m.what.n, "cells", 9},
             {"queries", m.what.queries, "queries", 9},
             {"load_factor", m.what.load, "a row", 5, "g"}};
  if (m.what.clock == measured_clock::processor) all.push_back({"clock", "processor"});
  if (!m.obstacle.empty()) {
    all.push_back({"obstacle", m.obstacle, "", -1});
    return all;
  }
  if (m.bytes != 0) all.push_back({"bytes_per_cell", m.bytes, "bytes", 6, ".1f"});
  nlohmann::ordered_json seconds, rates;
  const auto add = [&](const char* op, const spread& its, u64 n) {
    seconds[op] = as_json(its);
    rates[op] = static_cast<double>(n) / its.median / 1e6;
    all.push_back({"", its.median, op, 9, ".3g"});
  };
  add("build", m.build, m.what.n);
  add("found", m.found, m.what.queries);
  add("not_found", m.not_found, m.what.queries);
  all.push_back({"seconds", std::move(seconds)});
  all.push_back({"mcells_per_s", std::move(rates)});
  all.push_back(
      {"", noise_of("one", std::ranges::max({m.build, m.found, m.not_found}, {}, &spread::noise)), "", -1});
  all.push_back({.name = "lost", .value = m.lost, .head = "LOST", .is_fault = true});
  all.push_back(wrong_answers(m.wrong));
  return all;
}

}  // namespace tilehash::bench
