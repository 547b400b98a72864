// The order inside each module: no folder and no room includes itself by way of others, and folders
// stand as ARCHITECTURE.md's list under "The order inside each module" says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/tidy/include_graph.h"

namespace llmb::tidy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string told(const std::vector<std::string>& circle, const IncludeGraph& graph) {
  std::string edges;
  for (const std::string& from : circle) {
    for (const std::string& to : graph.at(from)) {
      if (std::count(circle.begin(), circle.end(), to) > 0) edges += "\n  " + from + " -> " + to;
    }
  }
  return "these include each other in a circle: " + joined(circle) + edges;
}

TEST(Order, NoFoldersIncludeEachOther) {
  const IncludeGraph graph = include_graph(product_files(), folder_of);
  EXPECT_GT(graph.size(), 10U) << "the tree was not found";
  for (const auto& circle : circles(graph)) ADD_FAILURE() << told(circle, graph);
}

TEST(Order, NoRoomsOfAFolderIncludeEachOther) {
  const IncludeGraph graph = include_graph(product_files(), room_of);
  EXPECT_GT(graph.size(), 100U) << "the tree was not found";
  for (const auto& circle : circles(graph)) ADD_FAILURE() << told(circle, graph);
}

TEST(Order, ACircleIsFound) {
  const std::vector<SourceFile> files = {
      {"parser/a/x.h", {"#include \"parser/b/y.h\""}},
      {"parser/b/y.h", {"#pragma once"}},
      {"parser/b/z.cpp", {"#include \"parser/c/w.h\""}},
      {"parser/c/w.h", {"  #include \"parser/a/x.h\"  // a comment"}},
  };
  EXPECT_THAT(circles(include_graph(files, folder_of)),
              ElementsAre(ElementsAre("parser/a", "parser/b", "parser/c")));
  EXPECT_THAT(circles(include_graph(files, room_of)), IsEmpty());
}

// One line of the list: "parser: foundation, lines < dialects" puts two folders on level 0.
std::map<std::string, int> levels_of(const std::string& module, const std::string& order) {
  std::map<std::string, int> levels;
  int level = 0;
  std::istringstream words(order);
  for (std::string word; words >> word;) {
    if (word == "<") {
      ++level;
      continue;
    }
    if (word.back() == ',') word.pop_back();
    levels[word == "." ? module : module + "/" + word] = level;
  }
  return levels;
}

// Module -> folder -> level, of the block of code that follows the heading.
std::map<std::string, std::map<std::string, int>> documented_order() {
  std::map<std::string, std::map<std::string, int>> modules;
  bool in_block = false;
  for (const std::string& line :
       document_section("ARCHITECTURE.md", "## The order inside each module")) {
    if (starts_with(line, "```")) {
      in_block = !in_block;
    } else if (in_block) {
      const std::size_t colon = line.find(':');
      if (colon == std::string::npos) continue;
      const std::string module = line.substr(0, colon);
      modules[module] = levels_of(module, line.substr(colon + 1));
    }
  }
  return modules;
}

TEST(Order, FoldersStandAsTheDocumentSays) {
  const auto modules = documented_order();
  ASSERT_FALSE(modules.empty()) << "ARCHITECTURE.md has no list of the order";
  for (const auto& [folder, included] : include_graph(product_files(), folder_of)) {
    const auto module = modules.find(folder.substr(0, folder.find('/')));
    if (module == modules.end()) continue;
    const auto& levels = module->second;
    ASSERT_TRUE(levels.contains(folder)) << folder << " is missing in ARCHITECTURE.md's order";
    for (const std::string& other : included) {
      if (!levels.contains(other)) continue;  // another module's: the include table's business
      EXPECT_LT(levels.at(other), levels.at(folder)) << folder << " includes " << other;
    }
  }
}

TEST(Order, ReadsTheDocumentsList) {
  EXPECT_EQ(
      levels_of("parser", " foundation, lines < dialects < ."),
      (std::map<std::string, int>{
          {"parser/foundation", 0}, {"parser/lines", 0}, {"parser/dialects", 1}, {"parser", 2}}));
}

}  // namespace
}  // namespace llmb::tidy
