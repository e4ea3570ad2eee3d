// A store of keys of 16 and values of 100 bytes under YCSB's core workloads, in bulk: how many operations a
// second it takes, and how long a batch of them waits, over three designs of the table that finds the
// records.
//
//   example_kv_store [--records 1000000] [--operations 1000000] [--batch 8192] [--threads 0]
//                    [--workloads ABCFD]
//
// All answers are checked: that they are there, whole and the record's own; and against a std::unordered_map
// that they are the latest, from 200 000 records on for a sample of those. The exit code is 1 when one is
// wrong.
#include <charconv>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <tilehash/space/cpu.hpp>

#include "store.hpp"

namespace kv_store {
namespace {

count number(std::string_view name, std::string_view text, count least, count most) {
  count n = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (problem != std::errc() || end != text.data() + text.size() || n < least || n > most)
    throw std::runtime_error(std::string(name) + " is '" + std::string(text) +
                             "'; it must be a number from " + std::to_string(least) + " to " +
                             std::to_string(most));
  return n;
}

settings read_arguments(const std::vector<std::string>& given) {
  settings s;
  for (std::size_t i = 0; i < given.size(); i += 2) {
    const std::string& name = given[i];
    if (i + 1 == given.size()) throw std::runtime_error(name + " needs a value");
    const std::string& text = given[i + 1];
    if (name == "--records")
      s.records = number(name, text, 1, 1'000'000'000);
    else if (name == "--operations")
      s.operations = number(name, text, 1, 100'000'000);
    else if (name == "--batch")
      s.batch = number(name, text, 1, 100'000'000);
    else if (name == "--threads")
      s.threads = static_cast<int>(number(name, text, 0, 1'024));
    else if (name == "--workloads")
      s.workloads = text;
    else
      throw std::runtime_error("unknown option " + name);
  }
  if (s.workloads.empty() || s.workloads.size() > 10 ||
      s.workloads.find_first_not_of("ABCDF") != std::string::npos)
    throw std::runtime_error(
        "--workloads is '" + s.workloads +
        "'; it must be up to ten of A, B, C, D and F (E scans, which hash tables do not)");
  return s;
}

}  // namespace
}  // namespace kv_store

int main(int argc, char** argv) {
  try {
    const auto given = kv_store::read_arguments({argv + 1, argv + argc});
    std::printf("%llu records of 16 + 100 bytes, %llu operations a workload, %llu in a batch\n",
                static_cast<unsigned long long>(given.records),
                static_cast<unsigned long long>(given.operations),
                static_cast<unsigned long long>(given.batch));
    tilehash::cpu space(given.threads);
    kv_store::count wrong = kv_store::run(space, given);
    wrong += kv_store::run_on_gpu(given);
    return wrong == 0 ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 2;
  }
}
