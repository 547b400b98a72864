// Who may include whom: the table of ARCHITECTURE.md, read from there and held against every
// #include of the tree.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <stdexcept>

#include "tests/tidy/source_tree.h"

namespace llmb::tidy {
namespace {

struct Rule {
  std::string folder;                    // the longest folder that a file's path begins with counts
  std::vector<std::string> may_include;  // folders and files of the project
  std::vector<std::string> packages;     // what an angle-bracket include begins with
};

const Rule* rule_for(const std::vector<Rule>& rules, const std::string& path) {
  const Rule* best = nullptr;
  for (const Rule& rule : rules) {
    if (starts_with(path, rule.folder) && (!best || rule.folder.size() > best->folder.size())) {
      best = &rule;
    }
  }
  return best;
}

// What includes of a package begin with, by the name that the table gives it.
const std::map<std::string, std::vector<std::string>>& headers_of_packages() {
  static const std::map<std::string, std::vector<std::string>> headers = {
      {"Boost", {"boost/"}},
      {"Boost.Context", {"boost/context/"}},
      {"bzip2", {"bzlib.h"}},
      {"CLI11", {"CLI/"}},
      {"cuBLASLt", {"cublasLt.h"}},
      {"CUDA", {"cuda_"}},
      {"cuDNN", {"cudnn.h"}},
      {"liblzma", {"lzma.h"}},
      {"libpq", {"libpq-fe.h"}},
      {"NCCL", {"nccl.h"}},
      {"nlohmann/json", {"nlohmann/"}},
      {"NVTX", {"nvtx3/"}},
      {"OpenBLAS", {"cblas.h"}},
      {"OpenMP", {"omp.h"}},
      {"OpenSSL", {"openssl/"}},
      {"RE2", {"re2/"}},
      {"sanitizers", {"sanitizer/"}},
      {"spdlog", {"spdlog/"}},
      {"SQLite", {"sqlite3.h"}},
      {"tl::expected", {"tl/"}},
      {"yaml-cpp", {"yaml-cpp/"}},
      {"zlib", {"zlib.h"}},
      {"zstd", {"zstd.h", "zstd_errors.h"}},
  };
  return headers;
}

std::vector<std::string> words_of_cell(const std::string& cell) {
  static const std::regex word("[^,\\s][^,]*[^,\\s]");
  std::vector<std::string> words;
  for (std::sregex_iterator at(cell.begin(), cell.end(), word), end; at != end; ++at) {
    words.push_back(at->str());
  }
  return words;
}

// `name` between backticks, or nothing; "daemon.*" stands for every name that begins so.
std::string quoted_name(const std::string& word) {
  static const std::regex quoted("`([^`*]+)\\*?`");
  std::smatch match;
  return std::regex_match(word, match, quoted) ? match[1].str() : "";
}

void append(std::vector<std::string>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// The rule of `folder` by the cells of its row; `above` are the rules of the rows before it.
Rule rule_of_row(const std::string& folder, const std::string& may_include,
                 const std::string& packages, const std::vector<Rule>& above) {
  Rule rule{folder, {}, {}};
  for (const std::string& word : words_of_cell(may_include)) {
    const std::string name = quoted_name(word);
    if (word == "itself") {
      rule.may_include.push_back(folder);
    } else if (word == "also") {
      const Rule* around = rule_for(above, folder);
      if (!around) throw std::invalid_argument("no row above is of a folder around " + folder);
      append(rule.may_include, around->may_include);
      append(rule.packages, around->packages);
    } else if (!name.empty()) {
      rule.may_include.push_back(name);
    } else {
      throw std::invalid_argument("not understood in the row of " + folder + ": " + word);
    }
  }
  for (const std::string& word : words_of_cell(packages)) {
    const auto known = headers_of_packages().find(word);
    const std::string name = quoted_name(word);
    if (known != headers_of_packages().end()) {
      append(rule.packages, known->second);
    } else if (!name.empty()) {
      rule.packages.push_back(name);
    } else {
      throw std::invalid_argument("no package known here in the row of " + folder + ": " + word);
    }
  }
  return rule;
}

std::vector<Rule> rules_of_table(const std::vector<std::string>& lines) {
  static const std::regex row("\\|([^|]*)\\|([^|]*)\\|([^|]*)\\|");
  std::vector<Rule> rules;
  for (const std::string& line : lines) {
    std::smatch cells;
    if (!std::regex_match(line, cells, row)) continue;
    for (const std::string& word : words_of_cell(cells[1])) {
      const std::string folder = quoted_name(word);  // empty in the table's head
      if (!folder.empty()) rules.push_back(rule_of_row(folder, cells[2], cells[3], rules));
    }
  }
  return rules;
}

const std::vector<Rule>& documented_rules() {
  static const std::vector<Rule> rules =
      rules_of_table(document_section("ARCHITECTURE.md", "## Who may include whom"));
  return rules;
}

// The C++ library and the C and POSIX headers have no folder of their own, or one of these. Left
// out are those whose functions load the machine's libraries, which a static program cannot (pwd.h,
// grp.h, netdb.h, dlfcn.h): they stand in the table.
bool is_system_header(const std::string& name) {
  static const std::regex standard("[a-z_0-9]+");
  static const std::regex posix("(sys|linux|netinet|arpa|net)/[a-z_0-9]+\\.h");
  static const std::vector<std::string> named = {
      "unistd.h", "fcntl.h",     "dirent.h",   "signal.h", "poll.h",    "pthread.h",
      "spawn.h",  "immintrin.h", "arm_neon.h", "cpuid.h",  "termios.h", "time.h",
      "errno.h",  "getopt.h",    "glob.h",     "string.h", "stdlib.h",  "sched.h"};
  return std::regex_match(name, standard) || std::regex_match(name, posix) ||
         std::find(named.begin(), named.end(), name) != named.end();
}

// Messages are made with it everywhere.
bool is_formatting_header(const std::string& name) {
  return starts_with(name, "fmt/");
}

bool any_prefix(const std::vector<std::string>& prefixes, const std::string& name) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const auto& prefix) { return starts_with(name, prefix); });
}

// Empty where `line` holds no include, or an allowed one.
std::string complaint(const Rule& rule, const std::string& line) {
  static const std::regex include("\\s*#\\s*include\\s*([<\"])([^>\"]+)[>\"].*");
  std::smatch match;
  if (!std::regex_match(line, match, include)) return "";
  const std::string name = match[2];
  if (match[1] == "\"") {
    if (any_prefix(rule.may_include, name)) return "";
    return rule.folder + " may not include \"" + name + "\"";
  }
  if (is_system_header(name) || is_formatting_header(name)) return "";
  if (any_prefix(rule.packages, name)) return "";
  return rule.folder + " may not include <" + name + ">";
}

TEST(IncludeTable, HoldsForEveryFile) {
  const std::vector<SourceFile> files = product_files();
  EXPECT_GT(files.size(), 20U) << "the tree was not found";
  for (const SourceFile& file : files) {
    const Rule* rule = rule_for(documented_rules(), file.path);
    ASSERT_NE(rule, nullptr) << file.path << " is in no row of ARCHITECTURE.md's table";
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string wrong = complaint(*rule, file.lines[i]);
      EXPECT_EQ(wrong, "") << file.path << ":" << i + 1;
    }
  }
}

TEST(IncludeTable, EveryRowIsOfFilesThatAreThere) {
  const std::vector<SourceFile> files = product_files();
  for (const Rule& rule : documented_rules()) {
    EXPECT_TRUE(std::any_of(files.begin(), files.end(), [&](const SourceFile& file) {
      return rule_for(documented_rules(), file.path) == &rule;
    })) << rule.folder;
  }
}

TEST(IncludeTable, RefusesAnEdgeThatIsNotInIt) {
  const auto refuses = [](const std::string& path, const std::string& include) {
    return !complaint(*rule_for(documented_rules(), path), "#include " + include).empty();
  };
  EXPECT_TRUE(refuses("parser/lines/line_filter.cpp", "\"storage/database.h\""));
  EXPECT_TRUE(refuses("parser/lines/line_filter.cpp", "<sqlite3.h>"));
  EXPECT_TRUE(refuses("parser/lines/line_filter.cpp", "<nlohmann/json.hpp>"));
  EXPECT_FALSE(refuses("parser/lines/line_filter.cpp", "<re2/re2.h>"));
  EXPECT_TRUE(refuses("server/http/server.cpp", "\"parser/step_sample.h\""));
  EXPECT_FALSE(refuses("server/http/server.cpp", "\"parser/foundation/hex.h\""));
  EXPECT_TRUE(refuses("server/ingest/x.cpp", "\"server/http/server.h\""));
  EXPECT_TRUE(refuses("server/ingest/x.cpp", "<pwd.h>"));
  EXPECT_TRUE(refuses("server/cli/x.cpp", "\"server/api/api.h\""));
  EXPECT_FALSE(refuses("server/cli/daemon.cpp", "\"server/api/api.h\""));
  EXPECT_TRUE(refuses("server/report/x.cpp", "\"server/api/api.h\""));
  EXPECT_TRUE(refuses("runner/parallel/x.cpp", "<nccl.h>"));
  EXPECT_FALSE(refuses("runner/cuda/x.cpp", "<nccl.h>"));
}

TEST(IncludeTable, ReadsTheDocumentsTable) {
  const std::vector<Rule> rules = rules_of_table({
      "| folder | may include | packages |",
      "|---|---|---|",
      "| `a/` | itself, `b/c.h` | RE2, `netdb.h` |",
      "| `a/x.*`, `a/y/` | also, `d/` | zlib |",
      "| `a/z/` | | |",
  });
  ASSERT_EQ(rules.size(), 4U);
  EXPECT_EQ(rules[0].may_include, (std::vector<std::string>{"a/", "b/c.h"}));
  EXPECT_EQ(rules[0].packages, (std::vector<std::string>{"re2/", "netdb.h"}));
  EXPECT_EQ(rules[1].folder, "a/x.");
  EXPECT_EQ(rules[2].may_include, (std::vector<std::string>{"a/", "b/c.h", "d/"}));
  EXPECT_EQ(rules[2].packages, (std::vector<std::string>{"re2/", "netdb.h", "zlib.h"}));
  EXPECT_TRUE(rules[3].may_include.empty());
  EXPECT_THROW(rules_of_table({"| `a/` | all of `b/` | |"}), std::invalid_argument);
  EXPECT_THROW(rules_of_table({"| `a/` | itself | a new package |"}), std::invalid_argument);
}

}  // namespace
}  // namespace llmb::tidy
