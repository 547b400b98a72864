// printf's formats as strings, and bytes as GiB and MiB.
#pragma once

#include <cstdint>
#include <string>

namespace llmb::runner {

[[gnu::format(printf, 1, 2)]] std::string text_of(const char* format, ...);

// "12.34"; of less than 0.1 GiB more decimals.
std::string gib(std::int64_t bytes);

double mebibytes(std::int64_t bytes);

}  // namespace llmb::runner
