// The rules of STYLE.md that a program can hold: sizes, widths, places, nothing left open.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "tests/tidy/source_tree.h"

namespace llmb::tidy {
namespace {

constexpr std::size_t kFileLinesMax = 500;
constexpr std::size_t kFunctionLinesMax = 70;
constexpr std::size_t kLineColumnsMax = 100;
const std::vector<std::string> kCode = {".h", ".cpp", ".cu", ".cuh"};
const std::vector<std::string> kCodeAndScripts = {".h",   ".cpp", ".cu", ".cuh", ".ts",
                                                  ".tsx", ".mjs", ".sh", ".py"};

// Columns, not bytes: a UTF-8 continuation byte takes no place.
std::size_t columns(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

TEST(SourceRules, NoFileIsLongerThanFiveHundredLines) {
  for (const SourceFile& file : source_files(kCodeAndScripts)) {
    EXPECT_LE(file.lines.size(), kFileLinesMax) << file.path;
  }
}

TEST(SourceRules, NoLineIsWiderThanAHundredColumns) {
  for (const SourceFile& file : source_files(kCode)) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      EXPECT_LE(columns(file.lines[i]), kLineColumnsMax) << file.path << ":" << i + 1;
    }
  }
}

// A definition begins at the margin with a line that ends in '{' (or one that a '{' line follows)
// and ends at the next '}' at the margin, because clang-format does not indent namespaces.
bool begins_a_function(const std::string& line) {
  static const std::regex other(
      "^(namespace|struct|class|enum|union|extern|template|\\}|#|//|"
      "constexpr std::array|const |constexpr ).*");
  return !line.empty() && line[0] != ' ' && line[0] != '}' && ends_with(line, "{") &&
         line.find('(') != std::string::npos && !std::regex_match(line, other);
}

TEST(SourceRules, NoFunctionIsLongerThanAScreen) {
  for (const SourceFile& file : source_files(kCode)) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      if (!begins_a_function(file.lines[i])) continue;
      std::size_t end = i + 1;
      while (end < file.lines.size() && !starts_with(file.lines[end], "}")) ++end;
      EXPECT_LE(end - i + 1, kFunctionLinesMax) << file.path << ":" << i + 1;
    }
  }
}

TEST(SourceRules, HeadersHaveOneGuardAndSayWhatTheyAre) {
  for (const SourceFile& file : source_files({".h"})) {
    ASSERT_FALSE(file.lines.empty()) << file.path;
    EXPECT_TRUE(starts_with(file.lines[0], "// ")) << file.path << " opens without a sentence";
    EXPECT_NE(std::find(file.lines.begin(), file.lines.end(), "#pragma once"), file.lines.end())
        << file.path;
  }
}

TEST(SourceRules, NothingIsLeftOpen) {
  const std::regex mark(
      "\\b(TO"
      "DO|FIX"
      "ME|XX"
      "X)\\b");
  for (const SourceFile& file : source_files(kCodeAndScripts)) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      EXPECT_FALSE(std::regex_search(file.lines[i], mark)) << file.path << ":" << i + 1;
    }
  }
}

TEST(SourceRules, NoDrawersForAnything) {
  const std::set<std::string> drawers = {"util", "utils", "common", "misc", "helpers", "helper"};
  for (const SourceFile& file : source_files(kCodeAndScripts)) {
    std::size_t begin = 0;
    while (begin < file.path.size()) {
      const std::size_t end = std::min(file.path.find_first_of("/.", begin), file.path.size());
      EXPECT_FALSE(drawers.contains(file.path.substr(begin, end - begin))) << file.path;
      begin = end + 1;
    }
  }
}

TEST(SourceRules, AtMostOneFolderBelowAModule) {
  for (const SourceFile& file : source_files(kCode)) {
    // tests/ mirrors the tree below itself, so its files stand one folder deeper.
    const auto depth = std::count(file.path.begin(), file.path.end(), '/');
    EXPECT_LE(depth, starts_with(file.path, "tests/") ? 3 : 2) << file.path;
  }
}

TEST(SourceRules, OnlyTheAgreedNamesStandAtTheTop) {
  const std::set<std::string> agreed = {"CMakeLists.txt",
                                        "CMakePresets.json",
                                        "README.md",
                                        "ARCHITECTURE.md",
                                        "GLOSSARY.md",
                                        "STYLE.md",
                                        "LICENSE",
                                        "CONTRIBUTING.md",
                                        "server",
                                        "parser",
                                        "runner",
                                        "storage",
                                        "web",
                                        "migrations",
                                        "tests",
                                        "deploy",
                                        ".ci",
                                        ".clang-format",
                                        ".clang-tidy",
                                        ".gitignore",
                                        ".gitattributes",
                                        ".editorconfig"};
  for (const std::string& name : top_level_names()) EXPECT_TRUE(agreed.contains(name)) << name;
}

}  // namespace
}  // namespace llmb::tidy
