// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tilehash::app {

// A page of HTML that needs no other file: each table and figure of the documents, with the results in `folder`
// (paper_results.hpp). Throws input_error where there is no such folder.
std::string paper_report(const std::string& folder);

}  // namespace tilehash::app
