// Which llmb-report this is.
#pragma once

#include <string>

namespace llmb::cli {

std::string version_number();  // "0.1.0": what the API answers
// With the commit it was built from, as git described it when the build was configured:
// "0.1.0 (7b9676b)"; the number alone where it was built without git.
std::string version_with_commit();

}  // namespace llmb::cli
