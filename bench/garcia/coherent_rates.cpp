// SPDX-License-Identifier: Apache-2.0
#include "garcia/coherent_rates.hpp"

#include <fmt/format.h>

#include "fields.hpp"
#include "report.hpp"

namespace tilehash::bench {

std::string access_name(const coherent_data& data) {
  switch (data.how) {
    case coherent_data::access::rows:
      return "rows";
    case coherent_data::access::turned:
      return "turned";
    case coherent_data::access::slices:
      return "slices";
  }
  return "";
}

std::string coherent_heading(const coherent_data& data, u64 items, u64 lookups, double load) {
  const std::string what =
      data.side == 0
          ? fmt::format("{} random keys", items)
          : fmt::format("{}, {}{}, {}: {} points defined, {} asked for by {}", data.model, data.side,
                        data.how == coherent_data::access::slices ? "^3" : "^2", data.layout, items, lookups,
                        data.how == coherent_data::access::turned
                            ? fmt::format("rows, turned by {:g} degrees", data.degrees)
                            : access_name(data));
  return fmt::format("\n{}; load {:g}\n  {:<26} {:>12} {:>12} {:>10}\n", what, load, "million a second",
                     "build", "access", "buckets");
}

std::string coherent_line(std::span<const coherent_row> of_one_table) {
  std::string text = fmt::format("  {:<26}", of_one_table.front().what.design);
  u64 failed = 0, wrong = 0;
  for (const coherent_row& row : of_one_table) {
    text += fmt::format(" {:>12.1f}", row.what.rate() / 1e6);
    if (row.what.buckets != 0) text += fmt::format(" {:>10.3f}", row.what.buckets);
    failed += row.what.failed, wrong += row.what.wrong;
  }
  return text + faults({{"REFUSED", failed}, {"WRONG", wrong}}) + '\n';
}

fields fields_of(const coherent_row& row) {
  const measurement& m = row.what;
  fields all{{"design", m.design}, {"space", m.space}, {"n", m.n}};
  if (row.data.side != 0) {
    all.push_back({"model", row.data.model});
    all.push_back({"layout", row.data.layout});
    all.push_back({"side", row.data.side});
    all.push_back({"access", access_name(row.data)});
    if (row.data.how == coherent_data::access::turned) all.push_back({"degrees", row.data.degrees});
  }
  all.push_back({"load", row.load});
  all.push_back({"load_factor", m.load_factor});
  all.push_back({"op", m.op == "find" ? "access" : m.op});
  all.push_back({"buckets_per_lookup", m.buckets});
  add_rate(all, m);
  return all;
}

}  // namespace tilehash::bench
