// What the commands of `tilehash bench` begin and end with.
#pragma once

#include <nlohmann/json.hpp>

#include <fstream>
#include <string>
#include <vector>

#include "yardstick.hpp"

namespace CLI {
class App;
}

namespace tilehash::app {

struct common_options {
  std::string space = "auto", json;
  unsigned repeat = 5;
  int threads = 0;
};

void add_common(CLI::App& command, common_options& options);
void add_json(CLI::App& command, common_options& options);

// Where to measure, where to print, and the JSON, whose file is opened before the work is done.
class session {
 public:
  explicit session(const common_options& options);

  const std::string& space() const { return space_; }
  std::string machine() const;

  void say(const std::string& text) const;
  void write(const nlohmann::ordered_json& rows, const std::string& experiment = {});
  // Exits with an error where this is so: say what to look for in the rows.
  static void fail_if(bool faulty, const char* what);

 private:
  std::string path_, space_;
  std::ofstream file_;
  nlohmann::ordered_json header_;
};

// Those asked for by name that are there; a name that is not is an error.
std::vector<bench::subject> choose(const std::vector<bench::subject>& known,
                                   const std::vector<std::string>& names, const char* option);

}  // namespace tilehash::app
