// SPDX-License-Identifier: Apache-2.0
#include "breslow/horton_sizes.hpp"

#include "report.hpp"

namespace tilehash::bench {

std::vector<u64> sizes_to(u64 most) {
  std::vector<u64> sizes;
  for (u64 bytes = u64(16) << 10; bytes <= most; bytes *= 2) sizes.push_back(bytes);
  return sizes;
}

fields fields_of(const size_row& row) {
  const measurement& m = row.what;
  const char* const op = m.op == "build" ? "build" : m.queries.failed_percent == 0 ? "found" : "none";
  fields all{{"design", m.design, "design", -26}, {"space", m.space},
             {"bytes", row.bytes, "bytes", 11},   {"n", m.n, "items", 10},
             {"load_factor", m.load_factor},      {"op", m.op}};
  const auto across = [&](std::string name, double value, const char* head, const char* format,
                          double scale = 1) {
    all.push_back({std::move(name), value, head, 8, format, scale, false, true});
  };
  across("", m.rate(), op, ".1f", 1e-6);
  if (m.op == "find") {
    all.push_back({"failed_percent", m.queries.failed_percent});
    across("buckets_per_lookup", m.buckets, "buckets", ".3f");
    across("bytes_per_lookup", row.bytes_moved(), "bytes", ".1f");
  }
  add_rate(all, m);
  return all;
}

}  // namespace tilehash::bench
