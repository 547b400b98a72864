// A telling as JSON and back: nothing of it is lost.
#include "server/push/telling_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/storage/temporary_database.h"

namespace llmb::push {
namespace {

TEST(TellingJson, KeepsBytesAndNumbersThatJsonDoesNotHave) {
  storage::LogTelling log;
  log.root_path = "/lustre/w";
  log.run.relative_path = "log-\xff.out";
  log.run.revision = 3;
  log.run.first_seen_at = log.run.grown_at = "2026-01-02T03:04:05Z";
  log.run.facts.dialect = parser::Dialect::nemo;
  log.run.facts.events = {
      {parser::LogEvent::Kind::failure, "time_limit", "torn \xff\xfe line", 9'000, 3}};
  log.head_hash = 0xfedcba9876543210U;
  log.from = {0, 1};
  for (int i = 1; i < 4; ++i) log.steps.push_back(storage::make_step(i, 0.1 * i));
  log.steps[0].loss = std::numeric_limits<double>::quiet_NaN();
  log.steps[1].extra_fields = {{"grad", std::numeric_limits<double>::infinity()},
                               {"\xfe", -1e-300}};
  const storage::LogTelling back = read_telling(Json::parse(telling_json(log).dump()));
  EXPECT_EQ(back.run.relative_path, log.run.relative_path);
  EXPECT_EQ(back.run.facts, log.run.facts);
  EXPECT_EQ(back.head_hash, log.head_hash);
  EXPECT_EQ(back.from, log.from);
  ASSERT_EQ(back.steps.size(), 3U);
  EXPECT_TRUE(std::isnan(*back.steps[0].loss));
  EXPECT_EQ(back.steps[1], log.steps[1]);
  EXPECT_EQ(back.steps[2].step_time_s, 0.1 * 3);
}

TEST(TellingJson, TakesNoNumberForAnother) {
  storage::LogTelling log;
  log.root_path = "/lustre/w";
  log.run.relative_path = "log.out";
  log.run.revision = 3;
  log.run.first_seen_at = log.run.grown_at = "2026-01-02T03:04:05Z";
  const Json json = telling_json(log);
  ASSERT_NO_THROW(read_telling(json));
  for (const auto& [name, value] :
       std::vector<std::pair<const char*, const char*>>{{"revision", "18446744073709551615"},
                                                        {"revision", "3.0"},
                                                        {"size_bytes", "-1"},
                                                        {"head_length", "4294967296"},
                                                        {"relative_path", R"({"hex": "616"})"},
                                                        {"has_more", "1"}}) {
    Json changed = json;
    changed[name] = Json::parse(value);
    EXPECT_THROW(read_telling(changed), BadTelling) << name << " " << value;
  }
}

TEST(TellingJson, SaysWhichFieldIsNotAsItShouldBe) {
  for (const char* text : {"{}", "[]", "null", "{\"root\": 7}"}) {
    EXPECT_THROW(read_telling(Json::parse(text)), BadTelling) << text;
  }
}

}  // namespace
}  // namespace llmb::push
