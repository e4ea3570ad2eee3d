// SPDX-License-Identifier: Apache-2.0
#include "breslow/horton_sizes.hpp"

#include <fmt/format.h>

#include "fields.hpp"
#include "report.hpp"

namespace tilehash::bench {

std::vector<u64> sizes_to(u64 most) {
  std::vector<u64> sizes;
  for (u64 bytes = u64(16) << 10; bytes <= most; bytes *= 2) sizes.push_back(bytes);
  return sizes;
}

std::string size_heading(u64 bytes, u64 items, double load) {
  const std::string size =
      bytes < u64(1) << 20 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} MiB", bytes >> 20);
  return fmt::format(
      "\n{}: {} pairs of 32 + 32 bits at load {}; million a second, buckets and bytes a lookup\n"
      "  {:<26} {:>8} | {:>8} {:>8} {:>7} | {:>8} {:>8} {:>7}\n",
      size, items, load, "", "build", "found", "buckets", "bytes", "none", "buckets", "bytes");
}
std::string size_line(std::span<const size_row> of_one_table) {
  std::string text = fmt::format("  {:<26}", of_one_table.front().what.design);
  u64 failed = 0, wrong = 0;
  for (const size_row& row : of_one_table) {
    const measurement& m = row.what;
    text += fmt::format("{} {:>8.1f}", m.op == "build" ? "" : " |", m.rate() / 1e6);
    if (m.op != "build") text += fmt::format(" {:>8.3f} {:>7.1f}", m.buckets, row.bytes_moved());
    failed += m.failed, wrong += m.wrong;
  }
  return text + faults({{"REFUSED", failed}, {"WRONG", wrong}}) + '\n';
}

fields fields_of(const size_row& row) {
  const measurement& m = row.what;
  fields all{{"design", m.design},           {"space", m.space}, {"bytes", row.bytes}, {"n", m.n},
             {"load_factor", m.load_factor}, {"op", m.op}};
  if (m.op == "find") {
    all.push_back({"failed_percent", m.queries.failed_percent});
    all.push_back({"buckets_per_lookup", m.buckets});
    all.push_back({"bytes_per_lookup", row.bytes_moved()});
  }
  add_rate(all, m);
  return all;
}

}  // namespace tilehash::bench
