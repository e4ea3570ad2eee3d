// SPDX-License-Identifier: Apache-2.0
// How the tables are built and asked, written once for every space.
#pragma once

#include <tilehash/designs/robin_hood.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/papers/robin_hood_ages.hpp>
#include <tilehash/papers/robin_hood_random.hpp>
#include <tilehash/table.hpp>

#include "../median.hpp"
#include "tables.hpp"

namespace sparse_tables {

using tilehash_examples::seconds_of;

// look(table, its answer) comes last.
template <class Design, class Space, class Look>
answered ask(Space& space, const grid_data& data, const char* name, Look look) {
  const tilehash::buffer<key, Space> keys(space, data.keys), questions(space, data.questions);
  const tilehash::buffer<pixel, Space> colours(space, data.colours);
  tilehash::buffer<pixel, Space> answers(space, data.questions.size());
  answered result;
  result.table = name;

  // [sparse_tables-begin]
  tilehash::table<Design, Space> table(space, 0, {.load_factor = data.load_factor});
  tilehash::insert_report report;
  result.building =
      seconds_of(space, data.repeat, [&] { report = table.build(space, keys.span(), colours.span()); });
  result.asking = seconds_of(
      space, data.repeat, [&] { table.find_or(space, questions.span(), answers.span(), data.background); });
  // [sparse_tables-end]

  result.refused = data.keys.size() - report.inserted;
  result.answers = answers.to_host();
  look(table, result);
  return result;
}

template <class Space, class Look>
machine ask_tables(Space& space, const grid_data& data, Look look) {
  // One slot a bucket, as in the paper: keys that come in order share lines of memory as it is.
  using coherent = tilehash::robin_hood<key, pixel, 1>;
  using random = tilehash::papers::robin_hood_random<key, pixel, 1>;
  using tiled = tilehash::tiled<key, pixel>;
  machine m{space.name(), {}};
  m.tables.push_back(ask<coherent>(space, data, "robin_hood, coherent", look));
  m.tables.push_back(ask<random>(space, data, "robin_hood, random", look));
  m.tables.push_back(ask<tiled>(space, data, "tiled", [](const auto& /*table*/, answered& /*result*/) {}));
  return m;
}

}  // namespace sparse_tables
