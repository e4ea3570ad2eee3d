#include <fmt/format.h>

#include "file_keys.hpp"

namespace tilehash::app {

dataset sequence_keys(std::string_view /*text*/, const std::string& name, unsigned /*k*/,
                      arrangement /*how*/) {
  throw input_error(fmt::format(
      "{}: this program was built without kseq.h, which reads sequences (Debian, Ubuntu: libbwa-dev)", name));
}

}  // namespace tilehash::app
