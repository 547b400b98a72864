// Files that programs on several machines read while they are replaced: complete under their name,
// or as they were before; on the disk before the function returns.
#pragma once

#include <optional>
#include <string>

#include "parser/result.h"

namespace llmb::backfill {

parser::Result<void> write_durably(const std::string& file, const std::string& text);

// Nothing where there is no such file. Fails where it cannot be read.
parser::Result<std::optional<std::string>> read_whole(const std::string& file);

}  // namespace llmb::backfill
