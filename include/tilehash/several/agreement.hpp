// SPDX-License-Identifier: Apache-2.0
// Agreement: the words that all ranks exchange before they exchange items. They carry a status, so a rank that
// failed ends the call on all ranks, before any of them waits for items.
//
//   | status | verb and types | call | step | words of the step ... |     of each rank, of one length always
//
// All ranks read the same words. So all come to the same conclusion: go on, fail, or take an optional step.
#pragma once

#include <cstring>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <vector>

#include <tilehash/several/exchange.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The verbs, as numbers that ranks compare.
enum class shared_verb : u64 {
  made,
  build,
  insert,
  assign,
  apply,
  erase,
  find,
  contains,
  count,
  retrieve,
  size,
  join,
  save,
  load,
  group_by,
  value_counts
};
inline const char* name_of(u64 verb) {
  constexpr const char* names[] = {"the constructor",
                                   "build",
                                   "insert",
                                   "insert_or_assign",
                                   "insert_or_apply",
                                   "erase",
                                   "find",
                                   "contains",
                                   "count",
                                   "retrieve",
                                   "size",
                                   "join",
                                   "save",
                                   "load",
                                   "group_by",
                                   "value_counts"};
  return verb < std::size(names) ? names[verb] : "an unknown verb";
}

// How a rank's step ended. The other ranks throw the same kind of exception.
enum class step_status : u64 { done, failed, bad_argument, no_memory, gpu_failed };

class agreement {
 public:
  static constexpr u32 header = 4, message_words = 32;
  static constexpr u32 free_words = 8;  // words of a step in addition to one for each rank

  explicit agreement(u32 ranks) : ranks_(ranks), mine_(words()), all_(u64(words()) * ranks) {}

  // A new call. `shape` is a number that all ranks' calls must agree in.
  void begin(shared_verb verb, u64 shape) {
    verb_ = static_cast<u64>(verb) | shape << 8;
    ++call_;
    step_ = 0;
    failure_ = nullptr;
    failed_together_ = false;
  }
  // Runs a step of this rank alone; a failure is kept for the next agree().
  template <class Step>
  void attempt(const Step& step) {
    if (failure_ != nullptr) return;
    try {
      step();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  // This rank's words of the next step.
  u64& mine(u32 word) { return mine_[header + word]; }
  // The words that a rank sent.
  u64 of(u32 rank, u32 word) const { return all_[u64(rank) * words() + header + word]; }
  u64 sum(u32 word) const {
    u64 all = 0;
    for (u32 r = 0; r < ranks_; ++r) all += of(r, word);
    return all;
  }

  // Exchanges the words. Throws on all ranks if one failed: its own exception there, and one line that names
  // the rank on the others.
  template <class Exchange>
  void agree(Exchange& exchange) {
    mine_[0] = static_cast<u64>(status_of(failure_));
    mine_[1] = verb_;
    mine_[2] = call_;
    mine_[3] = ++step_;
    exchange.all_gather(mine_, all_);
    failed_together_ = true;
    refuse_different();
    for (u32 r = 0; r < ranks_; ++r)
      if (header_of(r, 0) != 0) fail(exchange, r);
    failed_together_ = false;
  }
  // Whether agree() threw on all ranks. (Else the exchange threw, and a rank may have gone on.)
  bool failed_together() const { return failed_together_; }

 private:
  u32 words() const { return header + ranks_ + free_words; }
  u64 header_of(u32 rank, u32 word) const { return all_[u64(rank) * words() + word]; }

  void refuse_different() const {
    for (u32 r = 1; r < ranks_; ++r) {
      if (header_of(r, 1) == header_of(0, 1) && header_of(r, 2) == header_of(0, 2) &&
          header_of(r, 3) == header_of(0, 3))
        continue;
      const u64 first = header_of(0, 1), other = header_of(r, 1);
      if ((first & 0xff) != (other & 0xff))
        refuse("the ranks call different verbs: rank 0 " + std::string(name_of(first & 0xff)) + ", rank " +
               std::to_string(r) + " " + name_of(other & 0xff) +
               "; all ranks make the same calls in the same order");
      refuse(std::string(name_of(first & 0xff)) + ": rank 0 and rank " + std::to_string(r) +
             " use different types, options or numbers of calls; all ranks make the same calls");
    }
  }
  static step_status status_of(const std::exception_ptr& failure) {
    if (failure == nullptr) return step_status::done;
    try {
      std::rethrow_exception(failure);
    } catch (const invalid_argument&) {
      return step_status::bad_argument;
    } catch (const out_of_memory&) {
      return step_status::no_memory;
    } catch (const std::bad_alloc&) {
      return step_status::no_memory;
    } catch (const cuda_error&) {
      return step_status::gpu_failed;
    } catch (...) {
      return step_status::failed;
    }
  }
  static std::string text_of(const std::exception_ptr& failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& e) {
      const std::string text = e.what(), prefix = "tilehash: ";
      return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
    } catch (...) {
      return "an exception that is no std::exception";
    }
  }
  // All ranks call it, because all have read the same words.
  template <class Exchange>
  [[noreturn]] void fail(Exchange& exchange, u32 first) {
    std::vector<u64> text(message_words, 0), all(u64(message_words) * ranks_);
    if (failure_ != nullptr) {
      const std::string own = text_of(failure_);
      const std::size_t most = message_words * sizeof(u64) - 1;
      std::memcpy(text.data(), own.data(), own.size() < most ? own.size() : most);
    }
    exchange.all_gather(text, all);
    if (failure_ != nullptr) std::rethrow_exception(failure_);
    const std::string line =
        "tilehash: " + std::string(name_of(verb_ & 0xff)) + ": rank " + std::to_string(first) +
        " failed: " + reinterpret_cast<const char*>(all.data() + u64(first) * message_words);
    switch (static_cast<step_status>(header_of(first, 0))) {
      case step_status::bad_argument:
        throw invalid_argument(line);
      case step_status::no_memory:
        throw out_of_memory(line);
      case step_status::gpu_failed:
        throw cuda_error(line);
      default:
        throw error(line);
    }
  }

  u32 ranks_;
  u64 verb_ = 0, call_ = 0, step_ = 0;
  bool failed_together_ = false;
  std::exception_ptr failure_;
  std::vector<u64> mine_, all_;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
