// Finds the functions of a C++ file by their braces, wherever their signature is cut over lines.
// Reads text, not the language: it knows comments, literals, scopes and clang-format's spacing.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/tidy/source_tree.h"

namespace llmb::tidy {

struct FunctionBody {
  std::size_t first_line = 0;  // of the opening brace, from 1
  std::size_t last_line = 0;   // of the closing brace

  std::size_t lines() const { return last_line - first_line + 1; }
};

// The bodies of functions and methods, in the order of their ends. Lambdas count for the function
// that they stand in.
std::vector<FunctionBody> function_bodies(const SourceFile& file);

}  // namespace llmb::tidy
