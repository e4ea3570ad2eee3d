// SPDX-License-Identifier: Apache-2.0
#include "garcia/coherent_rates.hpp"

#include "report.hpp"

namespace tilehash::bench {

namespace {

const char* name_of(coherent_data::access how) {
  switch (how) {
    case coherent_data::access::rows:
      return "rows";
    case coherent_data::access::turned:
      return "turned";
    default:
      return "slices";
  }
}

}  // namespace

fields fields_of(const coherent_row& row) {
  const measurement& m = row.what;
  const std::string op = m.op == "find" ? "access" : m.op;
  fields all{{"design", m.design, "design", -26}, {"space", m.space}, {"n", m.n, "keys", 9}};
  if (row.data.side != 0) {
    all.push_back({"model", row.data.model, "model", -10});
    all.push_back({"layout", row.data.layout, "layout", -14});
    all.push_back({"side", row.data.side, "side", 5});
    all.push_back({"access", name_of(row.data.how), "access", -6});
    if (row.data.how == coherent_data::access::turned)
      all.push_back({"degrees", row.data.degrees, "degrees", 7, "g"});
  }
  all.push_back({"load", row.load, "load", 5, "g"});
  all.push_back({"load_factor", m.load_factor});
  all.push_back({"op", op});
  all.push_back({"", m.rate(), op, 9, ".1f", 1e-6, false, true});
  all.push_back({"buckets_per_lookup", m.buckets, "buckets", m.buckets != 0 ? 8 : 0, ".3f", 1, false, true});
  add_rate(all, m);
  return all;
}

}  // namespace tilehash::bench
