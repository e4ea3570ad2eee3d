// SPDX-License-Identifier: Apache-2.0
// Ranks in processes of one host, or of several: a connected stream socket for each pair of them.
//
// Each socket carries bytes both ways at once, so that no rank waits for a full buffer of another. A rank that
// ends or fails closes its sockets, and its peers throw at once. A rank that does not answer is given up after
// a time limit without progress.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tilehash/several/exchange.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace several {

/// The exchange of a process that is connected with all others. Its memory is the host's.
class processes {
 public:
  static constexpr int usual_limit = 30'000;  ///< milliseconds without progress

  /// Takes over the sockets.
  ///
  /// \param rank of this process.
  /// \param sockets of stream sockets: sockets[r] is connected with rank r; this rank's own is -1.
  /// \param limit milliseconds without progress after which a call throws.
  /// \throws invalid_argument for a rank that is not below the number of sockets.
  processes(u32 rank, std::vector<int> sockets, int limit = usual_limit)
      : rank_(rank), sockets_(std::move(sockets)), limit_(limit) {
    if (rank >= sockets_.size()) {
      close_all();
      detail::refuse("processes: a rank is below the number of sockets");
    }
    for (const int s : sockets_)
      if (s >= 0) fcntl(s, F_SETFL, fcntl(s, F_GETFL) | O_NONBLOCK);
  }
  processes(processes&& other) noexcept
      : rank_(other.rank_), sockets_(std::exchange(other.sockets_, {})), limit_(other.limit_) {}
  processes(const processes&) = delete;
  processes& operator=(const processes&) = delete;
  ~processes() { close_all(); }

  /// Makes the sockets of `ranks` processes of one host: row r is for rank r. Call it before fork(); each
  /// process closes the other rows.
  ///
  /// \throws error where the system has no sockets left.
  static std::vector<std::vector<int>> connected(u32 ranks) {
    std::vector<std::vector<int>> all(ranks, std::vector<int>(ranks, -1));
    for (u32 a = 0; a < ranks; ++a)
      for (u32 b = a + 1; b < ranks; ++b) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
          const std::string why = std::strerror(errno);
          for (const auto& row : all) close_sockets(row);
          throw error("tilehash: processes: no socket: " + why);
        }
        all[a][b] = pair[0];
        all[b][a] = pair[1];
      }
    return all;
  }
  /// Closes the sockets of a row that another process uses.
  static void close_sockets(const std::vector<int>& row) {
    for (const int s : row)
      if (s >= 0) close(s);
  }

  u32 rank() const { return rank_; }                              ///< this rank's number
  u32 size() const { return static_cast<u32>(sockets_.size()); }  ///< ranks

  /// See the concept `exchange`. Throws error if a rank ended or does not answer.
  void all_gather(std::span<const u64> mine, std::span<u64> all) {
    std::vector<u64> offsets(size()), none(size(), 0), bytes(size(), mine.size_bytes());
    for (u32 r = 0; r < size(); ++r) offsets[r] = r * mine.size_bytes();
    transfer("all_gather", {mine.data(), none, bytes}, {all.data(), offsets, bytes});
  }
  /// See the concept `exchange`. Throws error if a rank ended or does not answer.
  void all_to_all(const sent_parts& sent, const received_parts& received) {
    transfer("all_to_all", sent, received);
  }

 private:
  // The bytes that are left to send to a rank, and to receive from it.
  struct flow {
    u32 rank;
    const char* from;
    u64 to_send;
    char* to;
    u64 to_receive;
    bool done() const { return to_send == 0 && to_receive == 0; }
  };

  void transfer(const char* call, const sent_parts& sent, const received_parts& received) {
    if (broken_)
      throw error("tilehash: " + std::string(call) + ": the exchange failed before; make a new one");
    std::vector<flow> flows;
    for (u32 r = 0; r < size(); ++r) {
      if (r != rank_)
        flows.push_back({r, sent.at(r), sent.bytes[r], received.at(r), received.bytes[r]});
      else if (sent.bytes[r] != 0)
        std::memcpy(received.at(r), sent.at(r), sent.bytes[r]);
    }
    std::erase_if(flows, [](const flow& f) { return f.done(); });
    std::vector<pollfd> polls;
    while (!flows.empty()) {
      polls.clear();
      for (const flow& f : flows)
        polls.push_back(
            {sockets_[f.rank],
             static_cast<short>((f.to_send != 0 ? POLLOUT : 0) | (f.to_receive != 0 ? POLLIN : 0)), 0});
      const int ready = poll(polls.data(), polls.size(), limit_);
      if (ready == 0)
        fail(call, flows.front().rank, "did not answer within " + std::to_string(limit_) + " ms");
      if (ready < 0 && errno != EINTR) fail(call, flows.front().rank, std::strerror(errno));
      for (std::size_t i = 0; ready > 0 && i < flows.size(); ++i)
        if (polls[i].revents != 0) advance(call, flows[i]);
      std::erase_if(flows, [](const flow& f) { return f.done(); });
    }
  }
  // Moves as many bytes as the socket takes and has.
  void advance(const char* call, flow& f) {
    const int s = sockets_[f.rank];
    if (f.to_receive != 0) {
      const ssize_t n = recv(s, f.to, f.to_receive, 0);
      if (n == 0 || (n < 0 && has_ended())) fail(call, f.rank, "has ended");
      if (n < 0 && !may_go_on()) fail(call, f.rank, std::strerror(errno));
      if (n > 0) f.to += n, f.to_receive -= static_cast<u64>(n);
    }
    if (f.to_send != 0) {
      const ssize_t n = send(s, f.from, f.to_send, MSG_NOSIGNAL);
      if (n < 0 && has_ended()) fail(call, f.rank, "has ended");
      if (n < 0 && !may_go_on()) fail(call, f.rank, std::strerror(errno));
      if (n > 0) f.from += n, f.to_send -= static_cast<u64>(n);
    }
  }
  static bool has_ended() { return errno == EPIPE || errno == ECONNRESET; }
  static bool may_go_on() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }
  [[noreturn]] void fail(const char* call, u32 rank, const std::string& what) {
    broken_ = true;
    close_all();  // so that the others end, too
    throw error("tilehash: " + std::string(call) + ": rank " + std::to_string(rank) + " of " +
                std::to_string(size()) + " " + what + "; start the ranks again");
  }
  void close_all() {
    close_sockets(sockets_);
    for (int& s : sockets_) s = -1;
  }

  u32 rank_;
  std::vector<int> sockets_;
  int limit_;
  bool broken_ = false;
};

static_assert(exchange<processes>);

}  // namespace several
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(several);
}  // namespace tilehash
