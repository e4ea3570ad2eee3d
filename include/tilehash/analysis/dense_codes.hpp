// SPDX-License-Identifier: Apache-2.0
// The codes of keys whose words are in a small range: an array of codes, one for each word of the range.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include <tilehash/analysis/code_table.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace analysis::detail {

// The words from `least` on, `size` of them; none if size is 0.
struct word_range {
  u64 least = 0, size = 0;
};

// The same interface as code_table. A share is a part of the range.
template <class Rows>
class dense_codes {
  using word = typename Rows::word;

 public:
  // Throws out_of_memory.
  dense_codes(cpu& space, word_range range, u32 shares)
      : least_(static_cast<word>(range.least)), each_(range.size / shares + 1), codes_(space, range.size) {
    space.fill(codes_.data(), codes_.size(), no_code);
  }

  template <bool ByRow, class Code, class Found>
  u64 code(const Rows& rows, u64 first, u64 end, Code* codes, bool missing_is_key, hash_share share,
           const Found& found) {
    word words[block_rows];
    bool missing[block_rows] = {};
    const u64 from = share.me * each_, until = share.all == 1 ? codes_.size() : from + each_;
    for (u64 base = first; base < end; base += block_rows) {
      const u32 n = static_cast<u32>(std::min<u64>(block_rows, end - base));
      const bool any_missing = rows.load(base, n, words, missing);
      for (u32 i = 0; i < n; ++i) {
        if (any_missing && missing[i]) {
          if (share.serves_missing())
            codes[base + i] = missing_is_key
                                  ? static_cast<Code>(code_at<ByRow>(missing_code_, base + i, found))
                                  : static_cast<Code>(-1);
          continue;
        }
        const u64 at = static_cast<word>(words[i] - least_);
        if (share.all > 1 && (at < from || at >= until)) continue;
        codes[base + i] = static_cast<Code>(code_at<ByRow>(codes_.data()[at], base + i, found));
      }
    }
    return end;
  }
  void provide() {}
  u32 missing_code() const { return missing_code_; }

 private:
  template <bool ByRow, class Found>
  u32 code_at(u32& code, u64 row, const Found& found) {
    if (code == no_code) {
      code = ByRow ? static_cast<u32>(row) : size_++;
      found(row);
    }
    return code;
  }

  word least_;
  u64 each_;
  u32 size_ = 0, missing_code_ = no_code;
  buffer<u32, cpu> codes_;
};

// The range of the words, if it is at most `most` words; size 0 otherwise. A sample decides first.
template <class Rows>
word_range range_of(cpu& space, const Rows& rows, u64 n, u64 most) {
  if constexpr (!Rows::exact) {
    return {};
  } else {
    using word = typename Rows::word;
    constexpr u64 sampled_blocks = tuning::cpu::sampled_blocks;
    struct extent {
      word least = std::numeric_limits<word>::max(), greatest = 0;
      void add(const Rows& of, u64 base, u64 end) {
        word words[block_rows];
        bool missing[block_rows] = {};
        const u32 many = static_cast<u32>(std::min<u64>(block_rows, end - base));
        const bool any = of.load(base, many, words, missing);
        for (u32 i = 0; i < many; ++i) {
          if (any && missing[i]) continue;
          least = std::min(least, words[i]);
          greatest = std::max(greatest, words[i]);
        }
      }
      bool within(u64 size) const { return least > greatest || greatest - least < size; }
    };
    extent all;
    const u64 blocks = (n + block_rows - 1) / block_rows;
    for (u64 i = 0; i < sampled_blocks && i < blocks; ++i)
      all.add(rows, i * blocks / sampled_blocks % blocks * block_rows, n);
    if (!all.within(most)) return {};
    const u64 parts = std::min<u64>(blocks, 4 * static_cast<u64>(space.threads()));
    buffer<extent, cpu> extents(space, parts);
    space.for_each_block(parts, 1, 0, [&](auto block) {
      extent own;
      const u64 end = (block.index() + 1) * blocks / parts * block_rows;
      for (u64 base = block.index() * blocks / parts * block_rows; base < end && base < n; base += block_rows)
        own.add(rows, base, n);
      extents.data()[block.index()] = own;
    });
    for (const extent& own : extents.span())
      all = {std::min(all.least, own.least), std::max(all.greatest, own.greatest)};
    if (all.least > all.greatest || !all.within(most)) return {};
    return {all.least, u64(all.greatest) - all.least + 1};
  }
}

}  // namespace analysis::detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
