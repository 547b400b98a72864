// printf's formats as strings.
#pragma once

#include <string>

namespace llmb::runner {

[[gnu::format(printf, 1, 2)]] std::string text_of(const char* format, ...);

}  // namespace llmb::runner
