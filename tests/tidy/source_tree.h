// The project's own source files, as the tidy tests read them.
#pragma once

#include <string>
#include <vector>

namespace llmb::tidy {

struct SourceFile {
  std::string path;  // from the root of the tree, '/' between parts
  std::vector<std::string> lines;
};

// Every file of the tree whose name ends in one of `extensions` (".h"); what the build or npm made
// is not part of it. Ordered by path.
std::vector<SourceFile> source_files(const std::vector<std::string>& extensions);

// Those of C++ and CUDA, but for the tests, which may reach everything.
std::vector<SourceFile> product_files();

// The lines below the heading ("## Packages") of a document at the top, to the next heading of that
// rank; empty where it has no such heading.
std::vector<std::string> document_section(const std::string& document, const std::string& heading);

// Names of what stands at the top level, without what git ignores.
std::vector<std::string> top_level_names();

bool starts_with(const std::string& text, const std::string& prefix);
bool ends_with(const std::string& text, const std::string& suffix);

}  // namespace llmb::tidy
