// SPDX-License-Identifier: Apache-2.0
// Code that several tests of the program use.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace tilehash::app::testing {

// A file that lives as long as the test that wrote it.
class temporary_file {
 public:
  temporary_file(std::string_view name, std::string_view contents)
      : path_(std::filesystem::temp_directory_path() / (std::to_string(getpid()) + "_" + std::string(name))) {
    std::ofstream(path_, std::ios::binary) << contents;
  }
  ~temporary_file() { std::filesystem::remove(path_); }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;

  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The message of the Error that `call` throws; empty if it throws none.
template <class Error, class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace tilehash::app::testing
