// A request as bytes and back: nothing of its tellings is lost, and nothing else is understood.
#include "server/push/push_request.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "server/push/packed_telling.h"
#include "storage/packed_values.h"
#include "tests/storage/temporary_database.h"

namespace llmb::push {
namespace {

using testing::HasSubstr;

storage::LogTelling small_log() {
  storage::LogTelling log;
  log.root_path = "/lustre/w";
  log.run.relative_path = "log-\xff.out";
  log.run.revision = 3;
  log.run.first_seen_at = log.run.grown_at = "2026-01-02T03:04:05Z";
  return log;
}

std::string request_telling(const std::vector<storage::LogTelling>& logs) {
  std::vector<std::string> packed;
  for (const auto& log : logs) packed.push_back(packed_log(log));
  return packed_request(
      {"eos", "store", "login1", "1.2", 7, "2026-01-02T03:04:05Z", "2026-01-02T03:05:00Z", true},
      packed);
}

storage::LogTelling back_from(const storage::LogTelling& log) {
  return unpack_request(request_telling({log}), 10).logs.at(0);
}

std::string refusal_of(const std::string& body, std::size_t logs_max = 10) {
  try {
    unpack_request(body, logs_max);
  } catch (const storage::BadField& error) {
    return error.what();
  }
  return "";
}
std::string refusal_of(const storage::LogTelling& log) {
  return refusal_of(request_telling({small_log(), log}));
}

TEST(PackedValues, KeepIntegersOfEverySizeInFewBytes) {
  using Limits = std::numeric_limits<std::int64_t>;
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{63},
                                   std::int64_t{-64}, Limits::min(), Limits::max()}) {
    storage::PackWriter writer;
    writer.write(value);
    EXPECT_EQ(writer.size() == 1, value >= -64 && value < 64) << value;
    const std::string bytes = writer.take();
    storage::PackReader reader(bytes, 0);
    std::int64_t back = 7;
    reader.read("value", back);
    EXPECT_EQ(back, value);
  }
}

TEST(PackedRequest, KeepsBytesAndNumbersAsTheyAre) {
  storage::LogTelling log = small_log();
  log.run.facts.dialect = parser::Dialect::nemo;
  log.run.facts.events = {
      {parser::LogEvent::Kind::failure, "time_limit", "torn \xff\xfe line", 9'000, 3}};
  log.head_hash = 0xfedcba9876543210U;
  log.from = {0, 1};
  for (int i = 1; i < 20; ++i) log.steps.push_back(storage::make_step(i, 0.1 * i));
  log.steps[0].loss = std::numeric_limits<double>::quiet_NaN();
  log.steps[1].extra_fields = {{"grad", std::numeric_limits<double>::infinity()},
                               {"\xfe", -1e-300}};
  log.steps[2].extra_fields = {{"\xfe", -0.0}};
  log.steps[3].epoch = std::numeric_limits<std::int32_t>::min();
  log.steps[9].epoch = std::numeric_limits<std::int32_t>::max();
  log.steps[4].byte_offset = std::numeric_limits<std::uint64_t>::max();
  log.steps[5].logged_at = "2025-12-22T15:18:33";
  for (auto& step : log.steps) step.tflops_per_gpu = -0.0;
  const storage::LogTelling back = back_from(log);
  EXPECT_EQ(back.run.relative_path, log.run.relative_path);
  EXPECT_EQ(back.run.facts, log.run.facts);
  EXPECT_EQ(back.head_hash, log.head_hash);
  EXPECT_EQ(back.from, log.from);
  ASSERT_EQ(back.steps.size(), log.steps.size());
  EXPECT_TRUE(std::isnan(*back.steps[0].loss));
  EXPECT_TRUE(std::signbit(*back.steps[7].tflops_per_gpu));
  EXPECT_TRUE(std::signbit(back.steps[2].extra_fields[0].second));
  for (std::size_t i = 1; i < log.steps.size(); ++i) EXPECT_EQ(back.steps[i], log.steps[i]) << i;
}

TEST(PackedRequest, KeepsItsHead) {
  const PushHead head = unpack_request(request_telling({}), 10).head;
  EXPECT_EQ(head.cluster, "eos");
  EXPECT_EQ(head.store_id, "store");
  EXPECT_EQ(head.agent, "login1");
  EXPECT_EQ(head.version, "1.2");
  EXPECT_EQ(head.logs_pending, 7);
  EXPECT_EQ(head.pending_since, "2026-01-02T03:04:05Z");
  EXPECT_EQ(head.sent_at, "2026-01-02T03:05:00Z");
  EXPECT_TRUE(head.is_last);
}

TEST(PackedRequest, IsRefusedWhereItEndsEarlyOrLate) {
  storage::LogTelling log = small_log();
  for (int i = 0; i < 5; ++i) log.steps.push_back(storage::make_step(i, 0.1 * i));
  log.steps[2].extra_fields = {{"grad", 1}};
  log.run.configuration.set("dtype", "fp8", parser::ConfigSource::path);
  const std::string whole = request_telling({log});
  ASSERT_EQ(refusal_of(whole), "");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(refusal_of(whole.substr(0, size)), "") << size;
  }
  EXPECT_NE(refusal_of(whole + '\0'), "");
}

// What it becomes is refused or another telling; the sanitizers see whether a byte was trusted.
TEST(PackedRequest, WithAnyByteChangedHarmsNothing) {
  storage::LogTelling log = small_log();
  for (int i = 0; i < 3; ++i) log.steps.push_back(storage::make_step(i, 0.1 * i));
  log.run.facts.segments.push_back({0, 2, 3, 0, std::nullopt, 0, 0});
  const std::string whole = request_telling({log});
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int bits : {0x01, 0x80, 0xff}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ bits);
      refusal_of(changed);
    }
  }
}

TEST(PackedRequest, OfAnotherVersionIsRefused) {
  std::string body = request_telling({small_log()});
  constexpr std::size_t kFormatAt = 10;
  ASSERT_EQ(body[kFormatAt], kFormat);
  for (std::size_t at = 0; at < kFormatAt + 9; ++at) {  // the form's hash stands behind the number
    std::string changed = body;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_THAT(refusal_of(changed), HasSubstr("versions that do not go together")) << at;
  }
  EXPECT_THAT(refusal_of(R"({"format": 1, "cluster": "eos"})"),
              HasSubstr("versions that do not go together"));
}

TEST(PackedRequest, SaysWhichFieldOfWhichLogIsNotAsItShouldBe) {
  storage::LogTelling log = small_log();
  log.run.relative_path = "";
  EXPECT_THAT(refusal_of(log), HasSubstr("the entry 1 of 'logs': 'relative_path'"));
  log = small_log();
  log.root_path = "relative";
  EXPECT_THAT(refusal_of(log), HasSubstr("'root'"));
  log = small_log();
  log.run.revision = 0;
  EXPECT_THAT(refusal_of(log), HasSubstr("'revision'"));
  log = small_log();
  log.run.generation = -1;
  EXPECT_THAT(refusal_of(log), HasSubstr("'generation'"));
  log = small_log();
  log.run.grown_at = "yesterday";
  EXPECT_THAT(refusal_of(log), HasSubstr("RFC 3339"));
  log = small_log();
  log.steps = {storage::make_step(2, 1), storage::make_step(1, 1)};
  EXPECT_THAT(refusal_of(log), HasSubstr("'steps'"));
  EXPECT_THAT(refusal_of(request_telling({small_log(), small_log()}), 1), HasSubstr("at most 1"));
}

// A few bytes that say "400,000 steps, all alike".
TEST(PackedRequest, IsRefusedWhereFewBytesStandForTooMuch) {
  storage::LogTelling log = small_log();
  log.steps.resize(400'000);
  EXPECT_THAT(refusal_of(log), HasSubstr("'steps' has to be less at once"));
  log.steps.resize(1'000);
  for (auto& step : log.steps) step.logged_at = std::string(110'000, 'x');
  EXPECT_THAT(refusal_of(log), HasSubstr("'logged_at' has to be less at once"));
  for (auto& step : log.steps) {
    step.logged_at.clear();
    step.extra_fields.emplace_back(std::string(110'000, 'x'), 1);
  }
  EXPECT_THAT(refusal_of(log), HasSubstr("less at once"));
}

}  // namespace
}  // namespace llmb::push
