// The rules of STYLE.md that a program can hold: sizes, widths, places, nothing left open.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

#include "tests/tidy/function_lengths.h"
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

TEST(SourceRules, NoFunctionIsLongerThanAScreen) {
  std::size_t functions = 0;
  for (const SourceFile& file : source_files(kCode)) {
    for (const FunctionBody& body : function_bodies(file)) {
      ++functions;
      EXPECT_LE(body.lines(), kFunctionLinesMax) << file.path << ":" << body.first_line;
    }
  }
  EXPECT_GT(functions, 1000U) << "the functions were not found";
}

TEST(SourceRules, AFunctionIsFoundByItsBraces) {
  const SourceFile file{
      "a.cpp",
      {"namespace a {", "Reader::Reader(int size,", "               int count)",
       "    : size_{size}, count_(count) {", "  if (size_ > 0) {", "    use(\"}\");  // }", "  }",
       "}", "const std::array<int, 2> kTwo = {1, 2};", "struct B {",
       "  int f() const { return 1; }", "  int g = 0;", "};", "auto h(int x) -> std::vector<int> {",
       "  return {x};", "}", "}  // namespace a"}};
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (const FunctionBody& body : function_bodies(file)) {
    found.emplace_back(body.first_line, body.last_line);
  }
  EXPECT_EQ(found, (std::vector<std::pair<std::size_t, std::size_t>>{{4, 8}, {11, 11}, {14, 16}}));
}

// Every name in CMake's files that may be a source's, with or without its extension, from the top.
std::set<std::string> sources_of_targets() {
  static const std::regex word("[^\\s()\"]+");
  std::set<std::string> sources;
  for (const SourceFile& file : source_files({"CMakeLists.txt"})) {
    const std::filesystem::path folder = std::filesystem::path(file.path).parent_path();
    for (const std::string& line : file.lines) {
      for (std::sregex_iterator at(line.begin(), line.end(), word), end; at != end; ++at) {
        std::string name = at->str();
        const auto replace = [&](const std::string& variable, const std::string& place) {
          if (starts_with(name, variable)) name = place + name.substr(variable.size());
        };
        replace("${CMAKE_CURRENT_SOURCE_DIR}", LLMB_SOURCE_DIR "/" + folder.generic_string());
        replace("${CMAKE_SOURCE_DIR}", LLMB_SOURCE_DIR);
        const std::filesystem::path path =
            name[0] == '/' ? std::filesystem::path(name) : LLMB_SOURCE_DIR / folder / name;
        sources.insert(path.lexically_relative(LLMB_SOURCE_DIR).generic_string());
      }
    }
  }
  return sources;
}

TEST(SourceRules, EverySourceIsInATarget) {
  const std::set<std::string> built = sources_of_targets();
  for (const SourceFile& file : source_files({".cpp", ".cu"})) {
    const std::string without_extension = file.path.substr(0, file.path.rfind('.'));
    EXPECT_TRUE(built.contains(file.path) || built.contains(without_extension))
        << file.path << " is in no target, so nothing compiles it";
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

// C++20 destroys what `call(…)` returned before the loop begins, and no compiler of ours says so.
TEST(SourceRules, NoLoopGoesOverAPartOfWhatACallReturns) {
  const std::regex part(R"(for \([^;]* : [\w:]*\w\(.*\)(\[|\.at\(|\.front\(|\.value\().*\) ?\{?$)");
  ASSERT_TRUE(std::regex_search("for (const Json& run : get_json(\"/runs\")[\"runs\"]) {", part));
  ASSERT_FALSE(std::regex_search("for (const Json& run : list[\"runs\"]) {", part));
  for (const SourceFile& file : source_files(kCode)) {
    if (file.path == "tests/tidy/source_rules_test.cpp") continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      EXPECT_FALSE(std::regex_search(file.lines[i], part)) << file.path << ":" << i + 1;
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
