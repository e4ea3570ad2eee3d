// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "file_keys.hpp"

namespace tilehash::app {

kmer_list read_kmers(std::string_view /*text*/, const std::string& name, unsigned /*k*/) {
  throw input_error(fmt::format(
      "{}: this program was built without kseq.h, which reads sequences (Debian, Ubuntu: libbwa-dev)", name));
}

dataset sequence_keys(std::string_view text, const std::string& name, unsigned k, arrangement /*how*/) {
  read_kmers(text, name, k);
  return {};
}

}  // namespace tilehash::app
