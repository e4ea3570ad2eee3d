// SPDX-License-Identifier: Apache-2.0
// Calls by one space object on memory that another gave.
#include <tilehash/space/foreign_stream.hpp>

#include <gtest/gtest.h>

#include <string>

#include <tilehash/space/cpu.hpp>

namespace tilehash {
namespace {

std::string said;

// As `cuda`, without a GPU: notes how two streams are put in order.
class streamed {
 public:
  streamed(int device, char stream) : device_(device), stream_(stream) {}
  char stream() const { return stream_; }
  std::string where() const { return "GPU " + std::to_string(device_); }
  bool same_memory(const streamed& other) const { return device_ == other.device_; }
  void wait_for(const streamed& other) const { order(other, *this); }
  void hold_back(const streamed& other) const noexcept { order(*this, other); }
  char exchange_stream(char stream) noexcept { return std::exchange(stream_, stream); }

 private:
  static void order(const streamed& first, const streamed& second) {
    said += std::string() + first.stream_ + "<" + second.stream_ + " ";
  }
  int device_;
  char stream_;
};

TEST(foreign_streams, come_after_what_home_was_given_and_before_what_it_will_be) {
  streamed home(0, 'h'), foreign(0, 'g');
  said.clear();
  {
    const detail::foreign_read<streamed> call(&home, foreign, "find");
    EXPECT_EQ(said, "h<g ");
    EXPECT_EQ(home.stream(), 'h') << "others may read at the same time";
  }
  EXPECT_EQ(said, "h<g g<h ");
  said.clear();
  try {
    const detail::foreign_change<streamed> call(&home, foreign, "insert");
    EXPECT_EQ(home.stream(), 'g') << "what is taken and given back goes by the guest's stream";
    throw 1;
  } catch (int) {
  }
  EXPECT_EQ(home.stream(), 'h');
  EXPECT_EQ(said, "h<g g<h ");
}

TEST(foreign_streams, of_home_cost_nothing) {
  streamed home(0, 'h');
  said.clear();
  {
    const detail::foreign_change<streamed> change(&home, home, "insert");
    const detail::foreign_read<streamed> read(&home, home, "find"), none(nullptr, home, "find");
    const detail::foreign_change<streamed> first(nullptr, home, "build");
  }
  EXPECT_EQ(said, "");
  EXPECT_EQ(home.stream(), 'h');
}

TEST(foreign_streams, of_another_device_are_refused) {
  streamed home(0, 'h'), foreign(1, 'g');
  said.clear();
  try {
    const detail::foreign_change<streamed> call(&home, foreign, "insert");
    FAIL() << "it was let in";
  } catch (const invalid_argument& e) {
    EXPECT_EQ(
        std::string(e.what()),
        "tilehash: insert: the table is in the memory of GPU 0, and the space given works on GPU 1; give "
        "one of the same device, or build a table there");
  }
  EXPECT_EQ(said, "");
  EXPECT_EQ(home.stream(), 'h');
}

TEST(foreign_streams, of_a_cpu_are_at_home) {
  cpu home(1), foreign(2);
  const detail::foreign_change<cpu> change(&home, foreign, "insert");
  const detail::foreign_read<cpu> read(&home, foreign, "find");
}

}  // namespace
}  // namespace tilehash
