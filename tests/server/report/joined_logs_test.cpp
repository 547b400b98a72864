#include "server/report/joined_logs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace llmb::report {
namespace {

using TextOfLog = std::map<std::string, std::string, std::less<>>;

// The text of each log, of a pipe that comes in pieces of `piece` bytes.
TextOfLog texts_of(std::string_view pipe, std::size_t piece) {
  TextOfLog texts;
  JoinedLogs piped(
      [&](std::string_view name, std::string_view text) { texts[std::string(name)] += text; });
  for (std::size_t i = 0; i < pipe.size(); i += piece) piped.feed(pipe.substr(i, piece));
  piped.finish();
  return texts;
}

void expect_texts(std::string_view pipe, const TextOfLog& expected) {
  for (const std::size_t piece :
       {std::size_t{1}, std::size_t{7}, std::max<std::size_t>(1, pipe.size())}) {
    EXPECT_EQ(texts_of(pipe, piece), expected) << pipe << "\nin pieces of " << piece;
  }
}

TEST(JoinedLogs, AreOneTextWithoutNames) {
  expect_texts("", {});
  expect_texts("iteration 1\niteration 2\n", {{"", "iteration 1\niteration 2\n"}});
  expect_texts("no end", {{"", "no end"}});
  expect_texts("0: step 1\n0: step 2\n", {{"", "0: step 1\n0: step 2\n"}});
}

TEST(JoinedLogs, AreToldByTheNameBeforeALine) {
  expect_texts("runs/a.out:step 1\nruns/a.out:step 2\nb.log.gz:step 1\nruns/a.out:step 3",
               {{"runs/a.out", "step 1\nstep 2\nstep 3"}, {"b.log.gz", "step 1\n"}});
  expect_texts("a.out:12:step 1\n", {{"a.out", "12:step 1\n"}});
}

TEST(JoinedLogs, HaveTheLinesAroundAMatch) {
  expect_texts("a.out-before\na.out:step 1\n--\nb.out-before\nb.out:step 1\n",
               {{"a.out", "before\nstep 1\n--\n"}, {"b.out", "before\nstep 1\n"}});
}

// tail puts an end of a line before each name but the first, whether the log has one or not.
TEST(JoinedLogs, AreToldByTheNameAboveTheirLines) {
  expect_texts("==> a.out <==\nstep 1\n\n==> my runs/b.out <==\nstep 1\n\n==> a.out <==\nstep 2\n",
               {{"a.out", "step 1\nstep 2\n"}, {"my runs/b.out", "step 1\n"}});
  expect_texts("==> a.out <==\ntorn at 2.\n==> b.out <==\nstep 1",
               {{"a.out", "torn at 2."}, {"b.out", "step 1"}});
  expect_texts("==> a.out <==\n\n==> b.out <==\n", {{"a.out", ""}, {"b.out", ""}});
}

TEST(JoinedLogs, HaveNamesOfManyForms) {
  expect_texts("nemo.log-2025/r1.out:step 1\nnemo.log-2025/r2.out-step 1\n",
               {{"nemo.log-2025/r1.out", "step 1\n"}, {"nemo.log-2025/r2.out", "step 1\n"}});
  expect_texts("t.o123:step 1\nt.o124:step 1\n", {{"t.o123", "step 1\n"}, {"t.o124", "step 1\n"}});
}

TEST(JoinedLogs, TakeNoLogsOwnLineForAName) {
  const std::string own = "cat: run.log: No such file\ncat: run.log: No such file\n";
  expect_texts(own, {{"", own}});
  const std::string banner = "==> Setting up the container <==\nstep 1\n";
  expect_texts(banner, {{"", banner}});
  const std::string once = "train.log:opened\nstep 1\n";
  expect_texts(once, {{"", once}});
}

TEST(JoinedLogs, HoldNoLongLineBack) {
  std::size_t taken = 0;
  JoinedLogs piped([&](std::string_view, std::string_view text) { taken += text.size(); });
  piped.feed("a.out:step 1\na.out:step 2\na.out:");
  const std::string bar(std::size_t{1} << 20U, '#');
  for (int i = 0; i < 4; ++i) piped.feed(bar);
  EXPECT_GE(taken, 4 * bar.size());
}

}  // namespace
}  // namespace llmb::report
