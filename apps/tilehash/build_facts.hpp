// SPDX-License-Identifier: Apache-2.0
// What was built. The build writes it (build_facts.cmake).
#pragma once

namespace tilehash::app::built {

extern const char* const version;
extern const char* const commit;
extern const char* const type;  // such as "Release, quick"

}  // namespace tilehash::app::built
