// Requests that tell of many logs at once: what is decided of each is what would be were it told
// alone.
#include <gmock/gmock.h>

#include <set>
#include <vector>

#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

// More than are looked up at once.
constexpr int kLogs = 70;

class ToldRoots : public testing::Test {
 protected:
  LogTelling telling(const std::string& root, int number) const {
    LogTelling log;
    log.root_path = root;
    log.run.relative_path = "log_" + std::to_string(number);
    log.run.generation = 1;
    log.run.revision = 1;
    log.run.first_seen_at = log.run.grown_at = "2026-01-02T03:04:05Z";
    log.head_hash = static_cast<std::uint64_t>(number);
    log.head_length = 1024;
    return log;
  }
  // The verdicts on those logs in one request.
  std::vector<PushVerdict> tell(const std::vector<LogTelling>& logs) {
    std::vector<PushVerdict> verdicts;
    for (const PushResult& result : writer_.commit_pushed(sender_, logs)) {
      verdicts.push_back(result.verdict);
    }
    return verdicts;
  }

  const TemporaryDatabase database_;
  Writer writer_{database_.options()};
  Reader reader_{database_.path()};
  const PushSender sender_{"store", "eos", *parser::parse_instant("2026-01-02T03:04:05Z")};
};

TEST_F(ToldRoots, TakeWhatIsNewAmongWhatIsKnown) {
  std::vector<LogTelling> logs;
  std::vector<LogTelling> every_third;
  for (int i = 0; i < kLogs; ++i) {
    logs.push_back(telling(i % 2 == 0 ? "/lustre/even" : "/lustre/odd", i));
    if (i % 3 == 0) every_third.push_back(logs.back());
  }
  EXPECT_THAT(tell(every_third), testing::Each(PushVerdict::taken));
  const std::vector<PushVerdict> verdicts = tell(logs);
  ASSERT_EQ(verdicts.size(), logs.size());
  for (int i = 0; i < kLogs; ++i) {
    EXPECT_EQ(verdicts[i], i % 3 == 0 ? PushVerdict::known : PushVerdict::taken) << i;
  }
  EXPECT_EQ(reader_.totals().runs, kLogs);
  EXPECT_THAT(tell(logs), testing::Each(PushVerdict::known));
  EXPECT_EQ(reader_.totals().runs, kLogs);
}

TEST_F(ToldRoots, ALogThatIsToldTwiceInARequestIsTakenOnce) {
  EXPECT_THAT(tell({telling("/lustre/w", 1), telling("/lustre/w", 1)}),
              testing::ElementsAre(PushVerdict::taken, PushVerdict::known));
  EXPECT_EQ(reader_.totals().runs, 1);
}

TEST_F(ToldRoots, OfALogThatIsNotHeldAllIsAskedFor) {
  LogTelling rest = telling("/lustre/w", 1);
  rest.known_revision = 1;
  rest.run.revision = 2;
  EXPECT_THAT(tell({rest, telling("/lustre/w", 2)}),
              testing::ElementsAre(PushVerdict::conflict, PushVerdict::taken));
  EXPECT_EQ(reader_.totals().runs, 1);
}

TEST_F(ToldRoots, NewRunsHaveIdsOfTheirOwn) {
  std::set<RunId> ids;
  for (int request = 0; request < 3; ++request) {
    std::vector<LogTelling> logs;
    logs.reserve(kLogs);
    for (int i = 0; i < kLogs; ++i) logs.push_back(telling("/lustre/w", request * kLogs + i));
    for (const PushResult& result : writer_.commit_pushed(sender_, logs)) ids.insert(result.run);
  }
  EXPECT_EQ(ids.size(), 3U * kLogs);
  EXPECT_EQ(*ids.rbegin() - *ids.begin(), 3 * kLogs - 1);
}

}  // namespace
}  // namespace llmb::storage
