// Who may include whom: ARCHITECTURE.md's table, held against every #include of the tree.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "tests/tidy/source_tree.h"

namespace llmb::tidy {
namespace {

struct Rule {
  std::string folder;                    // the longest folder that a file's path begins with counts
  std::vector<std::string> may_include;  // folders of the project
  std::vector<std::string> packages;     // first part of an angle-bracket include
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> table = {
      {"parser/", {"parser/"}, {"re2/", "tl/"}},
      {"parser/foundation/", {"parser/foundation/"}, {}},
      {"parser/layout/", {"parser/"}, {"re2/", "tl/", "yaml-cpp/", "nlohmann/"}},
      {"parser/catalog/", {"parser/"}, {"re2/", "tl/", "yaml-cpp/", "nlohmann/"}},
      {"storage/", {"storage/", "parser/", "migrations/"}, {"sqlite3.h"}},
      {"storage/step_chunks.cpp", {"storage/", "parser/"}, {"zstd.h"}},
      {"storage/postgresql_connection.cpp", {"storage/", "parser/"}, {"libpq-fe.h"}},
      {"storage/postgresql_pipeline.cpp", {"storage/", "parser/"}, {"libpq-fe.h"}},
      {"storage/postgresql_result.cpp", {"storage/", "parser/"}, {"libpq-fe.h"}},
      {"storage/postgresql_session.cpp", {"storage/", "parser/"}, {"libpq-fe.h"}},
      {"storage/postgresql_statement.cpp", {"storage/", "parser/"}, {"libpq-fe.h"}},
      {"server/http/",
       {"server/http/", "parser/foundation/", "parser/result.h"},
       {"tl/", "boost/", "fmt/", "openssl/", "zlib.h", "zstd.h", "spdlog/", "nlohmann/"}},
      {"server/api/",
       {"server/api/", "server/push/", "server/report/", "server/http/", "server/ingest/",
        "server/dispatch/", "storage/", "parser/"},
       {"fmt/", "nlohmann/", "spdlog/", "tl/"}},
      {"server/unpacking/",
       {"server/unpacking/", "parser/foundation/", "parser/result.h"},
       {"fmt/", "tl/", "bzlib.h", "lzma.h", "zlib.h", "zstd.h", "zstd_errors.h"}},
      {"server/report/",
       {"server/report/", "server/unpacking/", "storage/", "parser/"},
       {"nlohmann/", "tl/"}},
      {"server/push/",
       {"server/push/", "server/http/", "storage/", "parser/"},
       {"nlohmann/", "spdlog/", "tl/"}},
      {"server/ingest/",
       {"server/ingest/", "server/unpacking/", "storage/", "parser/"},
       {"spdlog/", "tl/"}},
      {"server/dispatch/",
       {"server/dispatch/", "server/ingest/root_directory.h", "server/ingest/abandoned_call.h",
        "storage/", "parser/"},
       {"spdlog/", "nlohmann/", "yaml-cpp/", "tl/"}},
      {"server/backfill/",
       {"server/backfill/", "server/push/", "server/ingest/", "server/dispatch/",
        "server/unpacking/", "storage/", "parser/"},
       {"fmt/", "nlohmann/", "tl/"}},
      {"server/compat/", {"server/compat/", "parser/"}, {"tl/", "re2/"}},
      {"server/sample/", {"server/sample/", "parser/"}, {"nlohmann/"}},
      {"server/cli/",
       {"server/cli/", "server/backfill/", "server/push/", "server/report/", "server/http/",
        "server/ingest/", "server/dispatch/", "server/compat/", "server/sample/", "storage/",
        "parser/"},
       {"CLI/", "nlohmann/", "spdlog/", "tl/", "yaml-cpp/"}},
      // The daemon alone puts all parts together.
      {"server/cli/daemon.",
       {"server/cli/", "server/api/", "server/http/", "server/ingest/", "server/dispatch/",
        "storage/", "parser/", "web/"},
       {}},
      {"server/main.cpp", {"server/cli/", "server/http/openssl_configuration.h"}, {"nss.h"}},
      {"deploy/static/", {}, {"spdlog/"}},
      {"web/", {}, {}},
      {"runner/",
       {"runner/", "parser/catalog/", "parser/dialects/step_line_grammar.h", "parser/foundation/",
        "parser/result.h"},
       {"CLI/", "nlohmann/", "tl/", "cuda", "cublas", "cudnn", "nccl", "nvtx3/", "cblas.h", "omp.h",
        "zlib.h", "dlfcn.h", "netdb.h", "nss.h"}},
      {"runner/simt/", {"runner/simt/"}, {"boost/context/", "sanitizer/"}},
      {"runner/kernels/", {"runner/kernels/", "runner/simt/"}, {"cuda"}},
  };
  return table;
}

const Rule* rule_for(const std::string& path) {
  const Rule* best = nullptr;
  for (const Rule& rule : rules()) {
    if (starts_with(path, rule.folder) && (!best || rule.folder.size() > best->folder.size())) {
      best = &rule;
    }
  }
  return best;
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
  int files_checked = 0;
  for (const SourceFile& file : source_files({".h", ".cpp", ".cu", ".cuh"})) {
    if (starts_with(file.path, "tests/")) continue;  // tests may reach everything
    const Rule* rule = rule_for(file.path);
    ASSERT_NE(rule, nullptr) << file.path << " stands where no module is";
    ++files_checked;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string wrong = complaint(*rule, file.lines[i]);
      EXPECT_EQ(wrong, "") << file.path << ":" << i + 1;
    }
  }
  EXPECT_GT(files_checked, 20) << "the tree was not found";
}

TEST(IncludeTable, RefusesAnEdgeThatIsNotInIt) {
  const Rule* parser = rule_for("parser/lines/line_filter.cpp");
  ASSERT_NE(parser, nullptr);
  EXPECT_NE(complaint(*parser, "#include \"storage/database.h\""), "");
  EXPECT_NE(complaint(*parser, "#include <sqlite3.h>"), "");
  EXPECT_NE(complaint(*parser, "#include <nlohmann/json.hpp>"), "");
  EXPECT_EQ(complaint(*parser, "#include <re2/re2.h>"), "");
  const Rule* http = rule_for("server/http/server.cpp");
  EXPECT_NE(complaint(*http, "#include \"parser/step_sample.h\""), "");
  EXPECT_EQ(complaint(*http, "#include \"parser/foundation/hex.h\""), "");
  EXPECT_NE(complaint(*rule_for("server/ingest/x.cpp"), "#include \"server/http/server.h\""), "");
  EXPECT_NE(complaint(*rule_for("server/ingest/x.cpp"), "#include <pwd.h>"), "");
  EXPECT_NE(complaint(*rule_for("server/cli/x.cpp"), "#include \"server/api/api.h\""), "");
  EXPECT_EQ(complaint(*rule_for("server/cli/daemon.cpp"), "#include \"server/api/api.h\""), "");
  EXPECT_NE(complaint(*rule_for("server/report/x.cpp"), "#include \"server/api/api.h\""), "");
}

}  // namespace
}  // namespace llmb::tidy
