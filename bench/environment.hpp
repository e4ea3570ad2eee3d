// Where and with what something was measured: figures without it mean nothing.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tilehash::bench {

// machine, threads, gpu, driver, compiler, commit. `gpu` is null and `driver` empty on the cpu.
nlohmann::ordered_json environment(const std::string& space, int threads);

}  // namespace tilehash::bench
