// SPDX-License-Identifier: Apache-2.0
// The tables and figures of the five documents: papers/*.json (papers/schema.json), compiled into the program.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tilehash::app {

struct paper_entry {
  std::string name;              // "li:table7"
  nlohmann::ordered_json paper;  // authors, title, year, machine, page
  nlohmann::ordered_json data;   // the entry

  bool has_command() const { return !data["command"].is_null(); }
  std::string file_name() const;  // "li_table7.json"
};

const std::vector<const char*>& paper_texts();  // each file's text
const std::vector<paper_entry>& all_paper_entries();

// The entries that `name` means: one, all of a document ("li"), or those with a command ("all"). Throws
// input_error for an unknown name, with the names nearest to it.
std::vector<paper_entry> find_paper_entries(const std::string& name);

}  // namespace tilehash::app
