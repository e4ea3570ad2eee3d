// SPDX-License-Identifier: Apache-2.0
// The lanes that touched each byte of a block's scratch (scratch.hpp).
#include "scratch.hpp"

namespace tilehash::emulation {

namespace {

constexpr u32 many = ~u32(0);
constexpr u64 word_bytes = 4;

bool changes(access how) { return how == access::write || how == access::update; }
bool is_atomic(access how) { return how == access::peek || how == access::update; }
bool conflict(access a, access b) { return (changes(a) || changes(b)) && !(is_atomic(a) && is_atomic(b)); }
std::string verb(access how) {
  return how == access::write ? "wrote" : how == access::update ? "updated" : "read";
}
std::string say(u32 thread, access how, u64 at) {
  return "thread " + std::to_string(thread) + " " + verb(how) + " byte " + std::to_string(at) +
         " of the scratch";
}

}  // namespace

scratch_memory::scratch_memory(u64 bytes)
    : bytes_(bytes),
      data_(bytes, std::byte(0xcd)),
      words_((bytes + word_bytes - 1) / word_bytes),
      is_split_(words_.size()) {}

void scratch_memory::note(u64 at, u64 bytes, access how, u32 thread, u32 phase) {
  if (at > bytes_ || bytes > bytes_ - at)
    throw invalid_argument("tilehash: " + say(thread, how, at) + ", but there are " + std::to_string(bytes_));
  const u64 end = at + bytes;
  while (at < end) {
    const u64 word = at / word_bytes;
    if (at % word_bytes == 0 && end - at >= word_bytes && !is_split_[word]) {
      note(words_[word], at, how, thread, phase);
      at += word_bytes;
    } else {
      if (!is_split_[word]) split(word);
      note(of_bytes_[at], at, how, thread, phase);
      ++at;
    }
  }
}

void scratch_memory::split(u64 word) {
  if (of_bytes_.empty()) of_bytes_.resize(words_.size() * word_bytes);
  is_split_[word] = true;
  for (u64 i = 0; i < word_bytes; ++i) of_bytes_[word * word_bytes + i] = words_[word];
}

void scratch_memory::note(marks& before, u64 at, access how, u32 thread, u32 phase) {
  mark* const by = before.by;
  if (how != access::write && by[u32(access::write)].phase == 0)
    throw race_error("tilehash: " + say(thread, how, at) + ", which nobody has written");
  for (const access other : {access::read, access::write, access::peek, access::update}) {
    const mark& theirs = by[u32(other)];
    if (theirs.phase != phase || theirs.thread == thread || !conflict(how, other)) continue;
    throw race_error("tilehash: a barrier is missing: " + say(thread, how, at) + " after " +
                     (theirs.thread == many ? "several threads" : "thread " + std::to_string(theirs.thread)) +
                     " " + verb(other) + " it");
  }
  mark& mine = by[u32(how)];
  mine = {phase, mine.phase == phase && mine.thread != thread ? many : thread};
}

}  // namespace tilehash::emulation
