// SPDX-License-Identifier: Apache-2.0
// The facts of the build. It writes them (build_facts.cmake).
#pragma once

namespace tilehash::app::built {

extern const char* const version;
extern const char* const commit;
extern const char* const type;  // such as "Release, quick"

}  // namespace tilehash::app::built
