// SPDX-License-Identifier: Apache-2.0
// The headers that cost the program's units most, and common calls of JSON and {fmt}, so that clang instantiates and
// compiles them once (cmake/TilehashFlags.cmake: tilehash_compile_precompiled). No unit calls it.
#pragma once

#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace tilehash::precompiled {

inline std::string use(const std::string& text) {
  nlohmann::ordered_json values = nlohmann::ordered_json::parse(text);
  values["key"] = values.value("key", values.at("key").get<std::string>());
  values.push_back(nlohmann::ordered_json(values.get<double>()));
  return values.dump(2) + fmt::format("{} {} {:.1f}", text, values.size(), 1.0);
}

}  // namespace tilehash::precompiled
