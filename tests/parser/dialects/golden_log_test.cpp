// Each tests/logs/<dialect>/<case>.log, and each log of tests/logs/failures, has beside it what it
// must become, <case>.golden.json. A new case is these two files. To write the second (or all,
// after a wanted change), run
//   LLMB_UPDATE_GOLDENS=1 parser_dialects_tests --gtest_filter='GoldenLogs.*'
// and read the difference before committing it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "log_samples.h"

namespace llmb::parser {
namespace {

TEST(GoldenLogs, BecomeWhatStandsBesideThem) {
  const bool is_update = std::getenv("LLMB_UPDATE_GOLDENS") != nullptr;
  ASSERT_FALSE(own_logs().empty());
  for (const auto& path : own_logs()) {
    SCOPED_TRACE(path.string());
    const ParsedLog log = parse_log(read_file(path));
    const std::string folder = path.parent_path().filename().string();
    if (folder != "failures") {
      EXPECT_EQ(dialect_name(log.facts.dialect), folder) << "the folder names the dialect";
    }
    std::filesystem::path golden = path;
    golden.replace_extension(".golden.json");
    if (is_update) {
      std::ofstream(golden, std::ios::binary) << to_json_text(log);
    } else {
      EXPECT_EQ(to_json_text(log), read_file(golden));
    }
  }
}

}  // namespace
}  // namespace llmb::parser
