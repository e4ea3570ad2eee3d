// SPDX-License-Identifier: Apache-2.0
// Finds the line of a design that called a collective, from the frames of a stack.
//
// A collective's source_location is its own line, usually in bucket.hpp. The callers of the bucket are in the
// frames above. Most frames are inlined, and only the debug information has them (the sanitizers' builds have
// it). binutils' addr2line reads it, once, when a test is about to fail.
#pragma once

#include <dlfcn.h>
#include <execinfo.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace tilehash::emulation {

inline std::vector<void*> callers() {
  std::vector<void*> frames(64);
  frames.resize(static_cast<std::size_t>(backtrace(frames.data(), static_cast<int>(frames.size()))));
  return frames;
}

// Returns the innermost line of a design's file, as `tiled.hpp:217`.
inline std::string line_of_design(const std::vector<void*>& frames) {
  Dl_info program{};
  if (frames.empty() || dladdr(reinterpret_cast<void*>(&callers), &program) == 0) return {};
  std::string command = "addr2line -i -e /proc/" + std::to_string(getpid()) + "/exe";
  for (void* const frame : frames) {
    Dl_info its{};
    if (dladdr(frame, &its) == 0 || its.dli_fbase != program.dli_fbase) continue;
    char offset[24];  // of the call, not of the next instruction
    std::snprintf(offset, sizeof offset, " 0x%llx",
                  static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(frame) -
                                                  reinterpret_cast<std::uintptr_t>(its.dli_fbase) - 1));
    command += offset;
  }
  FILE* const lines = popen((command + " 2>/dev/null").c_str(), "r");
  if (lines == nullptr) return {};
  std::string found;
  char text[1024];
  while (std::fgets(text, sizeof text, lines) != nullptr) {
    const std::string_view line(text);
    if (!found.empty() || (line.find("/designs/") == line.npos && line.find("/toys/") == line.npos)) continue;
    const std::string_view name = line.substr(line.rfind('/') + 1);
    found = name.substr(0, name.find_first_of(" \n"));  // the output may have more: (discriminator 2)
  }
  pclose(lines);
  return found;
}

}  // namespace tilehash::emulation
