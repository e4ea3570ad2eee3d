// SPDX-License-Identifier: Apache-2.0
// The data of a run: keys, and the value to store with each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tilehash::app {

// Something the user gave us cannot be used. The message is one line that names the place and says what to
// do; main prints it and exits with 2. Control characters, of a name that has some, become question marks.
struct input_error : std::runtime_error {
  explicit input_error(std::string what) : std::runtime_error(in_one_line(std::move(what))) {}

 private:
  static std::string in_one_line(std::string what) {
    for (char& c : what)
      if ((c >= 0 && c < ' ') || c == '\x7f') c = '?';
    return what;
  }
};

struct dataset {
  std::string name{};      // the SPEC it was made from
  unsigned key_bits = 64;  // 32 or 64: every key fits
  std::vector<std::uint64_t>
      keys{};  // in the order in which they are inserted; may repeat when `counts` is empty
  std::vector<std::uint32_t> counts{};  // how often each key occurred in a file, or empty
  std::vector<std::uint64_t> raw{};     // with counts: all that were counted, as they come in the file
  std::string note{};                   // what the user should know of how it was read; one line, or empty

  std::size_t size() const { return keys.size(); }

  // The value of an item. An item without a count stores its own number, so that any answer of a table
  // can be checked even where a key was given several times.
  std::uint64_t value(std::size_t item) const { return counts.empty() ? item : counts[item]; }
};

// Throws input_error where `name` has more items than the program can number, which is 2^32.
void require_countable(std::uint64_t items, const std::string& name);

// The order in which a file's keys are inserted: at random, so that no table profits from a neighbourhood
// that its user did not ask for, or as they first come in the file.
enum class key_order { shuffled, file };

// Each of the raw keys once, with how often it comes; the raw ones stay as they are. All threads.
dataset counted(std::vector<std::uint64_t> raw, key_order order, std::uint64_t seed);

// The same keys in another order, which looks random.
std::vector<std::uint64_t> shuffled(const std::vector<std::uint64_t>& keys, std::uint64_t seed);

}  // namespace tilehash::app
