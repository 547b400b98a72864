// `backfill` without Slurm: the real program, its tasks as processes, and a real server. With
// Slurm: tests/slurm/backfill_test.cpp.
#include <gmock/gmock.h>
#include <signal.h>

#include <csignal>

#include "server/cli/backfill_plan.h"
#include "server/cli/stop_signals.h"
#include "server/push/log_text_request.h"
#include "tests/server/serve/backfill_fixture.h"
#include "tests/server/serve/cutting_proxy.h"
#include "tests/storage/same_logs.h"

namespace llmb::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int kTasks = 4;
const std::string kAll = std::to_string(BackfillTest::kLogs);

TEST_F(BackfillTest, ReadsATreeAsOneIngestWould) {
  const auto dry = backfill(port_, {"--tasks", "4", "--dry-run", tree_});
  EXPECT_EQ(dry.exit_code, 0) << dry.errors;
  EXPECT_THAT(dry.output, HasSubstr("   all         40"));
  EXPECT_FALSE(std::filesystem::exists(work_.path())) << "a dry run makes nothing";
  EXPECT_EQ(stored().runs, 0);

  const auto run = backfill(port_, {"--tasks", "4", "--at-once", "2", tree_});
  EXPECT_EQ(run.exit_code, 0) << run.output << run.errors;
  EXPECT_THAT(run.output,
              HasSubstr("backfill: 4 of 4 tasks done, " + kAll + " of " + kAll + " logs\n"));
  expect_as_from_scratch();
  EXPECT_TRUE(std::filesystem::is_empty(folder_.file("local"))) << "databases of done tasks go";
  EXPECT_THAT(agents(), IsEmpty());
  EXPECT_THAT(server_->get("/metrics").body, HasSubstr("llmb_push_agents 0\n"));

  // The agent of the whole tree finds that the server has it all: no run is told anew.
  const auto revision = storage::Reader(central()).data_revision();
  push_whole_tree();
  EXPECT_EQ(storage::Reader(central()).data_revision(), revision);
  EXPECT_THAT(agents(), SizeIs(1));
  expect_as_from_scratch();
  const auto again = backfill(port_, {tree_});
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_EQ(storage::Reader(central()).data_revision(), revision);
}

TEST_F(BackfillTest, SendsTheTextOfTheLogsWhereThatIsAskedFor) {
  const auto run = backfill(port_, {"--tasks", "4", "--push-logs", tree_});
  EXPECT_EQ(run.exit_code, 0) << run.output << run.errors;
  storage::Reader reader(central());
  storage::RunQuery all;
  all.limit = 500;
  const auto runs = reader.runs(all).runs;
  EXPECT_THAT(runs, SizeIs(kLogs));
  for (const storage::RunRecord& one : runs) {
    std::string text;
    for (const auto& block : reader.log_blocks(one.id, 0, one.size_bytes)) {
      text += push::unpacked_block(block).value_or("damaged");
    }
    std::ostringstream log;
    log << std::ifstream(tree_ + "/" + one.relative_path, std::ios::binary).rdbuf();
    EXPECT_EQ(text, log.str()) << one.relative_path;
  }
}

TEST_F(BackfillTest, GoesOnAfterATaskIsKilledAtAnyByte) {
  CuttingProxy proxy(port_);
  make_work_folder(proxy.port(), kTasks);
  for (const std::size_t bytes : {300U, 900U, 1'600U}) {
    SCOPED_TRACE(bytes);
    auto task = start_task(2);
    proxy.cut_after(bytes, [&] { task->stop(SIGKILL); });
    ASSERT_TRUE(wait_until([&] { return proxy.has_cut(); })) << task->errors();
    task->stop(SIGKILL);
    const auto status = backfill(0, {"--status"});
    EXPECT_EQ(status.exit_code, 1);
    EXPECT_THAT(status.output, HasSubstr("backfill: 0 of 4 tasks done, 3 to do, 1 failed (task 2: "
                                         "its process ended without a word"));
  }
  const auto rest = backfill(0, {});
  EXPECT_EQ(rest.exit_code, 0) << rest.output << rest.errors;
  EXPECT_THAT(agents(), IsEmpty());
  expect_as_from_scratch();
}

TEST_F(BackfillTest, SaysWhichLogCannotBeReadAndSendsTheOthers) {
  make_work_folder(port_, 2);
  const std::string log = log_path(3);
  std::filesystem::remove(tree_ + "/" + log);
  const char kCutOffGzip[] = "\x1f\x8b\x08\0\0\0\0\0\0\3";
  std::ofstream(tree_ + "/" + log + ".gz").write(kCutOffGzip, sizeof(kCutOffGzip) - 1);
  const std::string unread = "1 log cannot be read: " + log +
                             ".gz: the compressed file ends in the "
                             "middle: it is still being written, or was cut off";
  const auto run = backfill(0, {});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.output, HasSubstr("1 of 2 tasks done, 1 failed (task "));
  EXPECT_THAT(run.output, HasSubstr(unread + "; mend it, or be done without by --skip-unreadable"));
  EXPECT_EQ(stored().runs, kLogs - 1);

  const auto without = backfill(0, {"--skip-unreadable"});
  EXPECT_EQ(without.exit_code, 0) << without.output << without.errors;
  EXPECT_THAT(without.errors, HasSubstr("which is cut into 2 tasks"));
  EXPECT_THAT(backfill(0, {"--status"}).output, HasSubstr("2 of 2 tasks done (task "));
  EXPECT_THAT(backfill(0, {"--status"}).output, HasSubstr(unread + "), "));
  EXPECT_THAT(agents(), IsEmpty());
}

TEST_F(BackfillTest, RefusesAnotherBackfillInItsWorkFolder) {
  make_work_folder(port_, kTasks);
  const auto refused = [&](int port, const std::vector<std::string>& words) {
    const auto run = backfill(port, words);
    EXPECT_EQ(run.exit_code, 2) << run.output;
    return run.errors;
  };
  EXPECT_THAT(refused(port_ + 1, {tree_}), HasSubstr("holds another back-fill: it goes to http"));
  EXPECT_THAT(refused(port_, {folder_.path().string()}), HasSubstr("it reads " + tree_));
  EXPECT_THAT(refused(port_, {"--tasks", "2", tree_}), HasSubstr("it has 4 tasks"));
  EXPECT_THAT(refused(port_, {"--push-logs", tree_}), HasSubstr("it sends no text of logs"));
  EXPECT_THAT(refused(0, {"--task", "5"}), HasSubstr("has 4 tasks, and no task 5"));
  std::ofstream(work_.manifest_file()) << "{}";
  const Said unreadable = backfill(port_, {tree_});
  EXPECT_EQ(unreadable.exit_code, 1);
  EXPECT_THAT(unreadable.errors, HasSubstr("is no manifest of a back-fill"));
}

TEST_F(BackfillTest, AsksTheServerBeforeTheFirstTask) {
  std::ofstream(token_file_) << "llmb_another\n";
  const auto refused = backfill(port_, {"--tasks", "2", tree_});
  EXPECT_EQ(refused.exit_code, 1) << refused.output;
  EXPECT_THAT(refused.errors, HasSubstr("does not take the token of " + token_file_));
  EXPECT_THAT(refused.errors, HasSubstr("makes new ones. No task was begun."));
  EXPECT_FALSE(std::filesystem::exists(work_.path())) << "what was said may be corrected";

  write_token("second");
  kill_server();
  const auto away = backfill(port_, {"--tasks", "2", tree_});
  EXPECT_EQ(away.exit_code, 1) << away.output;
  EXPECT_THAT(away.errors, HasSubstr("Connection refused"));
  EXPECT_THAT(away.errors, HasSubstr("No task was begun. Start `llmb-report serve --receive`"));
  EXPECT_FALSE(std::filesystem::exists(work_.path()));

  start_server();
  const auto run = backfill(port_, {"--tasks", "2", tree_});
  EXPECT_EQ(run.exit_code, 0) << run.output << run.errors;
  kill_server();
  EXPECT_EQ(backfill(0, {}).exit_code, 0) << "nobody is asked where nothing is left";
}

TEST_F(BackfillTest, SaysInItsStatusWhatIsInTheWayOfATaskThatRuns) {
  make_work_folder(port_, 1);
  kill_server();
  const auto task = start_task(1);
  std::string status;
  EXPECT_TRUE(wait_until([&] {
    status = backfill(0, {"--status"}).output;
    return status.find("1 running (task 1: ") != std::string::npos;
  })) << status;
  EXPECT_THAT(status, HasSubstr("Connection refused"));
  task->stop(SIGKILL);
}

TEST_F(BackfillTest, SaysWhatIsMissing) {
  const Said nowhere = backfill(0, {tree_});
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_THAT(nowhere.errors, HasSubstr("say where to: --push URL"));
  EXPECT_THAT(backfill(0, {"--status"}).errors, HasSubstr("there is no back-fill in"));
  std::filesystem::create_directory(folder_.file("empty"));
  const Said empty = backfill(port_, {folder_.file("empty")});
  EXPECT_EQ(empty.exit_code, 1) << "nothing is wrong with the arguments";
  EXPECT_THAT(empty.errors, HasSubstr("there is no log in"));
  std::filesystem::remove(token_file_);
  EXPECT_THAT(backfill(port_, {tree_}).errors, HasSubstr("cannot read a token from"));
}

TEST_F(BackfillTest, IsEndedBySignalsWhileItMeasures) {
  BackfillArguments arguments;
  arguments.roots = {tree_};
  arguments.push.url = "http://127.0.0.1:" + std::to_string(port_);
  arguments.push.token_file = token_file_;
  arguments.push.cluster = "eos";
  const StopSignals signals;
  // As Ctrl-C would end it then.
  const auto plan = plan_backfill(arguments, work_, signals, [](const backfill::Manifest&) {
    std::raise(SIGINT);
    return tl::expected<void, BackfillRefusal>();
  });
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().exit_code, kSignalExit + SIGINT);
  EXPECT_THAT(plan.error().message, HasSubstr("stopped while measuring"));
}

}  // namespace
}  // namespace llmb::cli
