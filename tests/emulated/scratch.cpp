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

void scratch_memory::note(u64 at, u64 bytes, access how, const mark& by) {
  if (at > bytes_ || bytes > bytes_ - at)
    throw invalid_argument("tilehash: " + say(by.thread, how, at) + ", but there are " +
                           std::to_string(bytes_));
  const u64 end = at + bytes;
  while (at < end) {
    const u64 word = at / word_bytes;
    if (at % word_bytes == 0 && end - at >= word_bytes && !is_split_[word]) {
      note(words_[word], at, how, by);
      at += word_bytes;
    } else {
      if (!is_split_[word]) split(word);
      note(of_bytes_[at], at, how, by);
      ++at;
    }
  }
}

void scratch_memory::split(u64 word) {
  if (of_bytes_.empty()) of_bytes_.resize(words_.size() * word_bytes);
  is_split_[word] = true;
  for (u64 i = 0; i < word_bytes; ++i) of_bytes_[word * word_bytes + i] = words_[word];
}

void scratch_memory::note(marks& before, u64 at, access how, const mark& by) {
  const auto is_ordered = [&](const mark& earlier) {
    return earlier.phase != by.phase || earlier.thread == by.thread ||
           (earlier.warp == by.warp && earlier.turn != by.turn);
  };
  if (how != access::write && before.by[u32(access::write)].phase == 0)
    throw race_error("tilehash: " + say(by.thread, how, at) + ", which nobody has written");
  for (const access other : {access::read, access::write, access::peek, access::update}) {
    const mark& theirs = before.by[u32(other)];
    if (is_ordered(theirs) || !conflict(how, other)) continue;
    throw race_error("tilehash: a barrier is missing: " + say(by.thread, how, at) + " after " +
                     (theirs.thread == many ? "several threads" : "thread " + std::to_string(theirs.thread)) +
                     " " + verb(other) + " it");
  }
  mark& last = before.by[u32(how)];
  const bool is_shared = !is_ordered(last), is_of_warp = last.warp == by.warp;
  last = {by.phase, is_shared ? many : by.thread, is_shared && !is_of_warp ? many : by.warp, by.turn};
}

}  // namespace tilehash::emulation
