// SPDX-License-Identifier: Apache-2.0
// A fiber: a function on a stack of its own that can pause and continue later.
//
// Boost.Context switches the stacks. With AddressSanitizer (TILEHASH_EMULATION_ASAN) every switch is
// announced to it, so that it keeps checking.
#pragma once

#include <cstddef>
#include <utility>

#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>

#if defined(TILEHASH_EMULATION_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace tilehash::emulation {

// The host calls resume(), the function calls pause(). The function must return before its fiber is
// destroyed.
class fiber {
 public:
#if defined(TILEHASH_EMULATION_ASAN)
  static constexpr std::size_t stack_bytes = std::size_t(256) * 1024;
#else
  static constexpr std::size_t stack_bytes = std::size_t(64) * 1024;
#endif

  template <class Function>
  explicit fiber(Function function) {
    boost::context::protected_fixedsize_stack stacks(stack_bytes);
    const auto stack = stacks.allocate();
    own_ = {static_cast<char*>(stack.sp) - stack.size, stack.size, nullptr};
    inside_ = context(std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack), stacks,
                      [this, function](context&& host) {
                        host_ = std::move(host);
                        entered(own_, hosts_);
                        function();
                        leaving(nullptr, hosts_);
                        forget(own_);
                        return std::move(host_);
                      });
  }
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  // Runs the function until it pauses or returns.
  void resume() {
    side before;
    leaving(&before, own_);
    inside_ = std::move(inside_).resume();
    entered(before, own_);
  }
  // Returns to the caller of resume().
  void pause() {
    leaving(&own_, hosts_);
    host_ = std::move(host_).resume();
    entered(own_, hosts_);
  }

 private:
  using context = boost::context::fiber;
  struct side {  // a stack as AddressSanitizer sees it
    const void* bottom = nullptr;
    std::size_t size = 0;
    void* fake = nullptr;
  };
#if defined(TILEHASH_EMULATION_ASAN)
  static void leaving(side* from, const side& to) {
    __sanitizer_start_switch_fiber(from != nullptr ? &from->fake : nullptr, to.bottom, to.size);
  }
  static void entered(const side& now, side& before) {
    __sanitizer_finish_switch_fiber(now.fake, &before.bottom, &before.size);
  }
  // The frames below never return, so the marks around their variables would stay when the memory is reused.
  static void forget(const side& stack) { __asan_unpoison_memory_region(stack.bottom, stack.size); }
#else
  static void leaving(side*, const side&) {}
  static void entered(const side&, side&) {}
  static void forget(const side&) {}
#endif

  context inside_, host_;  // where the function, or the host, continues
  side own_, hosts_;
};

}  // namespace tilehash::emulation
