// One root whose file system hangs beside one that answers.
#include <future>

#include "server/ingest/abandoned_call.h"
#include "server/ingest/watched_root.h"
#include "tests/patience.h"
#include "tests/server/ingest/hanging_file_system.h"
#include "tests/server/ingest/ingest_fixture.h"

namespace llmb::ingest {
namespace {

const std::string kLog = "experiments/e/e_1751000000/e/log-acct.e_4711_0.out";
const std::string kOther = "experiments/e/e_1751000000/e/log-acct.e_4712_0.out";

class HangingRoot : public TreeTest {
 protected:
  HangingRoot() {
    std::filesystem::create_directory(folder_ / "sick");
    write(kLog, nemo_lines(0, 4));
    write("../sick/" + kOther, nemo_lines(0, 6));
  }
  // Every thread that was left behind has come back.
  ~HangingRoot() override {
    EXPECT_TRUE(eventually([] { return HangingFileSystem::calls_that_hang() == 0; }));
  }

  std::string sick() const { return folder_ / "sick"; }
  IngestOptions with_both() const {
    IngestOptions both = options();
    both.roots = {{sick(), {}}, {tree_, {}}};
    // Long enough that a busy machine does not make the other one look as if it hung.
    both.hangs_after = std::chrono::milliseconds(500);
    return both;
  }
  static const RootStatus& sick_root(const IngestStatus& status) { return status.roots.at(0); }
};

void expect_only_the_first_hangs(const Ingest& ingest) {
  EXPECT_TRUE(eventually([&] {
    const IngestStatus status = ingest.status();
    return status.roots.size() == 2 && status.roots[0].hangs_since &&
           !status.roots[1].hangs_since && status.first_scan_done && status.root_errors.empty();
  })) << "the first scan is done of all that answer";
}

class HangsIn : public HangingRoot, public testing::WithParamInterface<HangingFileSystem::Calls> {};

TEST_P(HangsIn, ItsOwnFileSystemOnly) {
  HangingFileSystem hanging(sick(), GetParam());
  Ingest ingest(with_both(), {});
  ingest.start();
  ASSERT_TRUE(eventually([&] {
    return steps_of(kLog).size() == 4 && sick_root(ingest.status()).hangs_since.has_value();
  }));
  expect_only_the_first_hangs(ingest);
  const auto since = sick_root(ingest.status()).hangs_since;
  EXPECT_LE(*since, std::chrono::system_clock::now());
  append(kLog, nemo_lines(4, 2));
  EXPECT_TRUE(eventually([&] { return steps_of(kLog).size() == 6; })) << "the other goes on";
  EXPECT_TRUE(steps_of(kOther).empty());
  EXPECT_EQ(sick_root(ingest.status()).hangs_since, since) << "one instant, whenever asked";

  hanging.answer_again();
  EXPECT_TRUE(eventually([&] {
    return steps_of(kOther).size() == 6 && !sick_root(ingest.status()).hangs_since;
  })) << "it goes on by itself";
}

TEST_P(HangsIn, ItDoesNotHoldUpTheEnd) {
  HangingFileSystem hanging(sick(), GetParam());
  auto ingest = std::make_unique<Ingest>(with_both(), nullptr);
  ingest->start();
  ASSERT_TRUE(eventually(
      [&] { return steps_of(kLog).size() == 4 && HangingFileSystem::calls_that_hang() > 0; }));
  auto end = std::async(std::launch::async, [&] { ingest.reset(); });
  EXPECT_EQ(end.wait_for(kTestPatience), std::future_status::ready);
  EXPECT_GT(HangingFileSystem::calls_that_hang(), 0) << "it still hangs, and nobody waits";
  // The database is closed, and another process may go on with it.
  EXPECT_NO_THROW(Ingest(with_both(), nullptr));
}

TEST_P(HangsIn, ItIsLeftOutByOnce) {
  HangingFileSystem hanging(sick(), GetParam());
  Ingest ingest(with_both(), nullptr);
  ingest.run_once({});
  expect_only_the_first_hangs(ingest);
  EXPECT_EQ(steps_of(kLog).size(), 4U);
  EXPECT_TRUE(steps_of(kOther).empty());
}

INSTANTIATE_TEST_SUITE_P(Calls, HangsIn,
                         testing::Values(HangingFileSystem::Calls::listings,
                                         HangingFileSystem::Calls::reads));

TEST_F(HangingRoot, ThatIsALinkIsNotStoredUnderTwoNames) {
  WatchedRoot root;
  std::filesystem::create_directory_symlink(sick(), folder_ / "link");
  root.path = folder_ / "link";
  root.path_is_canonical = false;  // it did not answer when the process started
  root.reopen(0, SteadyTime());
  EXPECT_EQ(root.directory, nullptr);
  EXPECT_NE(root.error.find("is a link to " + sick()), std::string::npos) << root.error;
  root.path = sick();
  root.reopen(0, SteadyTime());
  EXPECT_NE(root.directory, nullptr);
  EXPECT_TRUE(root.path_is_canonical);
}

TEST(AnswerWithin, GivesTheAnswerOrNothing) {
  EXPECT_EQ(answer_within(kTestPatience, [] { return 7; }), 7);
  std::promise<void> never_in_time;
  auto until = never_in_time.get_future().share();
  auto ended = std::make_shared<std::promise<void>>();
  auto has_ended = ended->get_future();
  const auto answer = answer_within(std::chrono::milliseconds(1), [until, ended] {
    until.wait();
    ended->set_value();
    return 7;
  });
  EXPECT_FALSE(answer);
  never_in_time.set_value();
  EXPECT_EQ(has_ended.wait_for(kTestPatience), std::future_status::ready);
}

}  // namespace
}  // namespace llmb::ingest

// As the program leaves: past the destructors of static objects, where a thread was left behind
// that may not have come to its own end yet.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int exit_code = RUN_ALL_TESTS();
  llmb::ingest::exit_past_abandoned_threads(exit_code);
  return exit_code;
}
