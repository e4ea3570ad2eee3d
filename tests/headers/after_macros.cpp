// SPDX-License-Identifier: Apache-2.0
// The public headers after `using namespace std` and the macros of Qt, X11, windows.h, POSIX and C: this unit
// must compile. Nothing runs.
#include "foreign_macros.hpp"

using namespace std;  // NOLINT(google-build-using-namespace)

#include <tilehash/instances/map.hpp>
#include <tilehash/instances/multimap.hpp>
#include <tilehash/tilehash.hpp>

// Every public class, as a user would write it.
namespace user {

using namespace tilehash;  // NOLINT(google-build-using-namespace)

using keys_in = span<const uint32_t>;
using values_in = span<const double>;

tilehash::map<uint32_t, double, cpu>* a_map;
tilehash::set<uint32_t, cpu>* a_set;
tilehash::multimap<uint32_t, double, cpu>* a_multimap;
dynamic_map<uint32_t, double, cpu>* a_dynamic_map;
key_index<uint32_t, cpu>* an_index;
table<hash_graph<uint32_t, double>, cpu>* a_graph;
table<dynamic_hash_graph<uint32_t, double>, cpu>* a_dynamic_graph;

insert_report use(cpu& space, keys_in keys, values_in values, span<bool> found, span<outcome> outcomes,
                  span<operation> operations) {
  table_options options{.load_factor = 0.8, .grow = false};
  tilehash::map<uint32_t, double, cpu> m(space, keys.size(), options);
  insert_report report = m.insert(space, keys, values, outcomes);
  report = m.insert(space, keys, values, keep::first);
  report = m.insert_or_apply(space, keys, values, op::sum{});
  report = m.insert_or_apply(space, keys, values, op::minimum{});
  report = m.insert_or_apply(space, keys, values, op::maximum{});
  buffer<double, cpu> out(space, keys.size());
  m.find(space, keys, out.span(), found);
  m.for_each(space, [](uint32_t, double) {});
  auto view = m.mutable_view(space);
  if (m.contains(7) || view.insert(7, 0.5) == outcome::inserted) m.erase(space, keys);
  const apply_report applied = m.apply(space, operations, keys, values, out.span(), {});
  report.refused += applied.inserted.refused;
  if (report.refused != 0) throw tilehash::invalid_argument("refused");
  const auto rows = join(space, keys, keys, {.kind = join_kind::left, .way = join_options::ways::by_table});
  if (rows.left.size() < join_size(space, keys, keys)) throw out_of_memory("rows");
  return report;
}

}  // namespace user
