// The evaluation of first causes by failures alone: as programs, drivers and schedulers print them,
// each labelled by hand, put into logs of several launchers, before the first step and after many,
// and followed by what other ranks and the launcher print of them. Half of the failures (by the
// hash of their text, whatever log they stand in) is for writing rules, and the other one only for
// judging them. Prints what share of each half has the exact cause and an acceptable one, and which
// classes fail.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "evaluated_log.h"
#include "labelled_failures.h"
#include "labelled_failures_of_programs.h"
#include "labelled_failures_of_rarer_kinds.h"
#include "labelled_failures_of_threads.h"
#include "parser/foundation/content_hash.h"

namespace llmb::parser {
namespace {

std::string prefixed(const std::string& prefix, const std::string& text) {
  std::string lines;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines += prefix + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return lines;
}

// What others print of it, in the order of launchers: other ranks, torchrun, srun.
const std::string kCascade =
    "[rank5]: torch.distributed.DistBackendError: [5] is setting up NCCL communicator and "
    "retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got "
    "error: Connection reset by peer\n"
    "[rank6]:[W1222 15:19:01.1 ProcessGroupNCCL.cpp:1496] Warning: destroy_process_group() was not "
    "called before program exit\n"
    "W1222 15:19:02.230000 4018 torch/distributed/elastic/multiprocessing/api.py:900] Sending "
    "process "
    "4020 closing signal SIGTERM\n"
    "E1222 15:19:02.390000 4018 torch/distributed/elastic/multiprocessing/api.py:874] failed "
    "(exitcode: 1) local_rank: 3 (pid: 4021) of binary: /usr/bin/python3\n"
    "Traceback (most recent call last):\n"
    "  File \"/usr/local/bin/torchrun\", line 8, in <module>\n"
    "    sys.exit(main())\n"
    "  File \"/usr/lib/torch/distributed/launcher/api.py\", line 277, in launch_agent\n"
    "    raise ChildFailedError(\n"
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
    "train.py FAILED\n"
    "Root Cause (first observed failure):\n"
    "  rank      : 3 (local_rank: 3)\n"
    "  exitcode  : 1 (pid: 4021)\n"
    "srun: error: node-1: task 3: Exited with exit code 1\n"
    "srun: Terminating StepId=4411.0\n"
    "srun: error: node-2: tasks 8-15: Terminated\n";

struct LabelledText {
  const Failure* failure = nullptr;
  std::string text;
};

std::vector<LabelledText> labelled_texts() {
  constexpr auto kPrefixes = std::to_array<const char*>(
      {"", "3: ", "[rank3]: ", "[default3]:", "2025-12-22T15:18:33.123456Z ", "[1,3]<stderr>:"});
  std::vector<const Failure*> failures;
  for (const Failure& failure : kFailures) failures.push_back(&failure);
  for (const Failure& failure : kFailuresOfThreads) failures.push_back(&failure);
  for (const Failure& failure : kFailuresOfRarerKinds) failures.push_back(&failure);
  for (const Failure& failure : kFailuresOfPrograms) failures.push_back(&failure);
  std::vector<LabelledText> logs;
  for (std::size_t f = 0; f < failures.size(); ++f) {
    for (std::size_t p = 0; p < kPrefixes.size(); ++p) {
      const std::string prefix = kPrefixes[p];
      // Steps are printed under srun's label or none; half of the logs die before the first.
      const int step_count = (f + p) % 2 == 0 ? 0 : 21;
      std::string text = kStartOfALog + nemo_step_lines(p == 1 ? "0: " : "", step_count);
      text += prefixed(prefix, failures[f]->text);
      if ((f + p) % 3 != 0) text += kCascade;
      logs.push_back({failures[f], std::move(text)});
    }
  }
  return logs;
}

struct Score {
  int logs = 0;
  int exact = 0;
  int acceptable = 0;
};

TEST(CauseEvaluation, OfLogsThatFailed) {
  std::array<Score, 2> halves;
  std::map<std::string, Score> classes;
  std::set<std::string> found_instead;
  for (const auto& [failure, text] : labelled_texts()) {
    const std::string cause = judge_text(text, false).failure_cause;
    const bool is_exact = cause == failure->cause;
    const bool is_acceptable = is_exact || is_among(failure->acceptable, cause);
    for (Score* const score :
         {&halves.at(content_hash(failure->text) % 2), &classes[failure->cause]}) {
      ++score->logs;
      score->exact += is_exact ? 1 : 0;
      score->acceptable += is_acceptable ? 1 : 0;
    }
    if (!is_exact)
      found_instead.insert(fmt::format("{}{} told as {}: {:.90}", is_acceptable ? "" : "WRONG ",
                                       failure->cause, cause, failure->text));
  }
  for (std::size_t half = 0; half < 2; ++half) {
    const Score& score = halves.at(half);
    std::cout << fmt::format("{}: {} logs, {:.1f} % exact, {:.1f} % acceptable\n",
                             half == 0 ? "for writing rules" : "for judging them", score.logs,
                             100.0 * score.exact / score.logs,
                             100.0 * score.acceptable / score.logs);
    EXPECT_GE(score.exact, score.logs * 90 / 100);
    EXPECT_GE(score.acceptable, score.logs * 95 / 100);
  }
  EXPECT_GE(halves[0].logs + halves[1].logs, 300);
  for (const auto& [cause, score] : classes) {
    if (score.exact == score.logs) continue;
    std::cout << fmt::format("  {}: {} of {} exact, {} acceptable\n", cause, score.exact,
                             score.logs, score.acceptable);
  }
  for (const std::string& mistake : found_instead) std::cout << "  " << mistake << '\n';
}

}  // namespace
}  // namespace llmb::parser
