// A whole file as bytes. Read, not mapped: a log may be cut short while it is searched.
#pragma once

#include <optional>
#include <string>

namespace llmb::compat {

// As long as the file is when it is opened, or shorter. Nothing for what cannot be read, is no
// file, or does not fit into memory; never blocks on a pipe.
std::optional<std::string> read_whole_file(const std::string& path);

}  // namespace llmb::compat
