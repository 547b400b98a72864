// Options: what a user of the shell parsers may choose.
#pragma once

#include <string>

#include "server/compat/release.h"

namespace llmb::compat {

enum class Format { table, csv, json };

struct Options {
  Release release;
  Format format = Format::table;
  bool full_names = false;
  std::string folder = "experiments";  // printed as it is given
};

}  // namespace llmb::compat
