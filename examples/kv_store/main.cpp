// SPDX-License-Identifier: Apache-2.0
// A store of keys of 16 and values of 100 bytes under YCSB's core workloads, in bulk. It measures operations a
// second and the latency of a batch, for three designs of the table that finds the records.
//
//   example_kv_store [--records 1000000] [--operations 1000000] [--batch 8192] [--threads 0]
//                    [--workloads ABCFD] [--space all|cpu|cuda]
//
// All answers are checked: they are present, whole and of the right record. A std::unordered_map checks that
// they are the latest, from 200 000 records on for a sample. The exit code is 1 if one is wrong.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <tilehash/space/cpu.hpp>

#include "../arguments.hpp"
#include "store.hpp"

namespace kv_store {
namespace {

settings read_arguments(const std::vector<std::string>& given) {
  using tilehash_examples::number;
  settings s;
  const auto rest =
      tilehash_examples::read_options(given, [&](const std::string& name, const std::string& text) {
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
        else if (name == "--space")
          s.space = text;
        else
          return false;
        return true;
      });
  if (!rest.empty()) throw std::runtime_error("unknown option " + rest[0]);
  if (s.workloads.empty() || s.workloads.size() > 10 ||
      s.workloads.find_first_not_of("ABCDF") != std::string::npos)
    throw std::runtime_error(
        "--workloads is '" + s.workloads +
        "'; it must be up to ten of A, B, C, D and F (E scans, which hash tables do not)");
  if (s.space != "all" && s.space != "cpu" && s.space != "cuda")
    throw std::runtime_error("--space is '" + s.space + "'; it must be all, cpu or cuda");
  return s;
}

}  // namespace
}  // namespace kv_store

int main(int argc, char** argv) {
  return tilehash_examples::guarded([&] {
    const auto given = kv_store::read_arguments({argv + 1, argv + argc});
    std::printf("%llu records of 16 + 100 bytes, %llu operations a workload, %llu in a batch\n",
                static_cast<unsigned long long>(given.records),
                static_cast<unsigned long long>(given.operations),
                static_cast<unsigned long long>(given.batch));
    kv_store::count wrong = 0;
    if (given.space != "cuda") {
      tilehash::cpu space(given.threads);
      wrong += kv_store::run(space, given);
    }
    if (given.space != "cpu") wrong += kv_store::run_on_gpu(given);
    return wrong == 0 ? 0 : 1;
  });
}
