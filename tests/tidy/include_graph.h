// The includes of the tree as a graph, between folders or between rooms (a header and the source of
// its name), and the circles in it. Tests' own files are left out.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/tidy/source_tree.h"

namespace llmb::tidy {

// Node -> the nodes it includes, itself left out.
using IncludeGraph = std::map<std::string, std::set<std::string>>;

// "parser/lines/line_filter.cpp" -> "parser/lines"; a file at the top of a module: "parser".
std::string folder_of(const std::string& path);

// "parser/lines/line_filter.cpp" -> "parser/lines/line_filter".
std::string room_of(const std::string& path);

// The graph over `files`, each named by `node_of`; an include counts where its file is among them.
IncludeGraph include_graph(const std::vector<SourceFile>& files,
                           std::string (*node_of)(const std::string&));

// Every set of two or more nodes that reach each other, its names sorted; none where all is
// ordered.
std::vector<std::vector<std::string>> circles(const IncludeGraph& graph);

}  // namespace llmb::tidy
