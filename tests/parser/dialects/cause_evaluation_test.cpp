// The evaluation of first causes: failures as programs, drivers and schedulers print them, each
// labelled by hand, put into logs of several launchers, before the first step and after many, and
// followed by what other ranks and the launcher print of them. Half of the failures (by the hash of
// their text, whatever log they stand in) is for writing rules, and the other one only for judging
// them. Prints what share of each half has the exact cause and an acceptable one, and which classes
// fail.
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
#include "labelled_logs.h"
#include "parser/foundation/content_hash.h"
#include "parser/statistics/first_cause.h"
#include "parser/statistics/run_summary.h"

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

bool holds_word(const std::string& words, const std::string& word) {
  return !word.empty() && (" " + words + " ").find(" " + word + " ") != std::string::npos;
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
    const bool is_acceptable = is_exact || holds_word(failure->acceptable, cause);
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

// What share of a set's logs is asked for, in percent.
struct Floors {
  int exact = 90;
  int acceptable = 95;
  int quoted = 90;
};

// As printed, with what stands before it: a stamp, a rank, a pod's name.
std::string line_at(std::string_view text, std::uint64_t offset) {
  return std::string(text.substr(offset, text.find('\n', offset) - offset));
}

// Whole logs, each set by itself: what share has the exact cause, an acceptable one, and the line
// that a reader would quote.
void judge_whole_logs(const std::string& set, const Floors& floors = {}) {
  Score score;
  int quoted = 0;
  std::string mistakes;
  for (const LabelledLog& log : labelled_logs(set)) {
    const ParsedLog parsed = parse_log(log.text);
    const RunSummary summary = summarize_run(parsed.samples, parsed.facts, {11, 44}, false);
    const std::string& cause = summary.failure_cause;
    const LogEvent* const failure = ending_failure(parsed.facts, summary);
    const std::string line = failure == nullptr ? "" : failure->line;
    const bool is_exact = cause == log.cause;
    const bool is_acceptable = is_exact || holds_word(log.acceptable, cause);
    const std::string printed = failure == nullptr ? "" : line_at(log.text, failure->offset);
    const auto is_in = [&](const std::string& text) {
      return text.find(log.line) != std::string::npos;
    };
    const bool is_quoted = is_in(line) || is_in(printed);
    ++score.logs;
    score.exact += is_exact ? 1 : 0;
    score.acceptable += is_acceptable ? 1 : 0;
    quoted += is_quoted ? 1 : 0;
    if (is_exact && is_quoted) continue;
    mistakes += fmt::format("  {}{} ({}): {}: {}\n", is_acceptable ? "" : "WRONG ", log.cause,
                            log.line, cause, line.substr(0, 120));
  }
  const auto percent = [&](int count) { return 100.0 * count / score.logs; };
  std::cout << fmt::format(
      "{}: {} logs, {:.1f} % exact, {:.1f} % acceptable, {:.1f} % with the line\n{}", set,
      score.logs, percent(score.exact), percent(score.acceptable), percent(quoted), mistakes);
  EXPECT_GE(score.logs, 30);
  EXPECT_GE(score.exact, score.logs * floors.exact / 100);
  EXPECT_GE(score.acceptable, score.logs * floors.acceptable / 100);
  EXPECT_GE(quoted, score.logs * floors.quoted / 100);
}

TEST(CauseEvaluation, OfLogsOfLaunchers) {
  judge_whole_logs("launchers");
}

TEST(CauseEvaluation, OfLogsOfPrograms) {
  judge_whole_logs("programs");
}

TEST(CauseEvaluation, OfLogsOfRuns) {
  judge_whole_logs("runs");
}

TEST(CauseEvaluation, OfLogsOfExceptions) {
  judge_whole_logs("exceptions");
}

TEST(CauseEvaluation, OfLogsOfMoreExceptions) {
  judge_whole_logs("more_exceptions");
}

TEST(CauseEvaluation, OfLogsOfTracebacks) {
  judge_whole_logs("tracebacks");
}

TEST(CauseEvaluation, OfLogsOfMoreTracebacks) {
  judge_whole_logs("more_tracebacks");
}

TEST(CauseEvaluation, OfLogsOfUnseenTracebacks) {
  judge_whole_logs("unseen_tracebacks");
}

TEST(CauseEvaluation, OfLogsOfMixedRanks) {
  judge_whole_logs("mixed_ranks", {.exact = 90, .acceptable = 95, .quoted = 85});
}

// Labelled before who wrote them knew how earlier sets label alike, and left as they were: four
// contradict these. ptxas that is older than the device (two), and a C compiler that is not there:
// the image lacks what fits, missing_module. KeyError: 'loss_mask' below get_batch(): read as data,
// tokenizer_or_data_missing.
TEST(CauseEvaluation, OfLogsInContext) {
  judge_whole_logs("contexts", {.exact = 90, .acceptable = 95, .quoted = 85});
}

// Written by who knew the rules: 93.2 % exact, 95.5 % acceptable, 79.5 % with the line at first
// sight.
TEST(CauseEvaluation, OfMoreLogsInContext) {
  judge_whole_logs("more_contexts", {.exact = 90, .acceptable = 95, .quoted = 79});
}

// Of clusters of nine schedulers and launchers, and of one suite of recipes, both by who had not
// seen the rules. At first sight 85.3 % exact, 89.9 % acceptable, 76.7 % with the line, and 89.1,
// 96.7 and 81.5 %. Five labels contradict those of earlier sets for the same words, and stay: no
// kernel image, a misaligned address, a data loader's worker that was killed, a device that is too
// old for MXFP8, and "Caught signal 7".
TEST(CauseEvaluation, OfLogsOfClusters) {
  judge_whole_logs("clusters", {.exact = 95, .acceptable = 98, .quoted = 86});
}

TEST(CauseEvaluation, OfLogsOfRecipes) {
  judge_whole_logs("recipes", {.exact = 95, .acceptable = 98, .quoted = 92});
}

// Of attempts that follow each other, and of ends whose order matters; written by who knew the
// rules, and labelled before. At first sight 96.8 % exact and acceptable, 87.1 % with the line.
TEST(CauseEvaluation, OfLogsOfAttemptsAndEnds) {
  judge_whole_logs("attempts_and_ends", {.exact = 98, .acceptable = 98, .quoted = 93});
}

// Whole logs of runs of one suite, by who had not seen the rules: what scripts print before and
// after, attempts, and complaints that were survived. At first sight 84.1 % exact, 88.8 %
// acceptable, 71.0 % with the line.
TEST(CauseEvaluation, OfWholeRuns) {
  judge_whole_logs("whole_runs", {.exact = 94, .acceptable = 96, .quoted = 82});
}

// Of the same kinds, written while the rules were mended by those, by somebody who had seen
// neither. No rule was mended by them: before, 85.0 % exact, 88.3 % acceptable, 75.0 % with the
// line.
TEST(CauseEvaluation, OfUnseenRuns) {
  judge_whole_logs("unseen_runs", {.exact = 90, .acceptable = 93, .quoted = 80});
}

// Whole logs of what clusters and home-made programs see day by day, by who had not seen the rules.
// At first sight 95.0 % of the first 80 and 90.0 % of the others exact. One label contradicts those
// of earlier sets for the same words, and stays: a device that is too old for FP8.
TEST(CauseEvaluation, OfDailyRuns) {
  judge_whole_logs("daily_runs", {.exact = 95, .acceptable = 96, .quoted = 87});
}

// Of the same kinds, by somebody else; no rule was mended by them. At first sight 93.8 % exact,
// 96.2 % acceptable, 81.2 % with the line.
TEST(CauseEvaluation, OfUnseenDailyRuns) {
  judge_whole_logs("unseen_daily_runs", {.exact = 93, .acceptable = 96, .quoted = 86});
}

// By two others who had not seen the rules. At first sight 87.5 % exact and acceptable, 70.8 % with
// the line. One label contradicts those of earlier sets, and stays: a misaligned address.
TEST(CauseEvaluation, OfLaterDailyRuns) {
  judge_whole_logs("later_daily_runs", {.exact = 98, .acceptable = 98, .quoted = 77});
}

// Whole logs of clusters, of Kubernetes, Ray and other launchers, and of home-made trainers, by
// four who had not seen the rules. At first sight 95.0 % exact, 95.8 % acceptable, 84.2 % with the
// line.
TEST(CauseEvaluation, OfEverydayRuns) {
  judge_whole_logs("everyday_runs", {.exact = 98, .acceptable = 99, .quoted = 90});
}

// Logs of a vendor's recipes, of frameworks on clouds, of research centres and home-made trainers;
// by three who had not seen the rules. At first sight 95.2 % exact and acceptable, 89.5 % with the
// line.
TEST(CauseEvaluation, OfVariedRuns) {
  judge_whole_logs("varied_runs", {.exact = 97, .acceptable = 97, .quoted = 91});
}

// What an operator of clusters meets with a vendor's recipes; by who had not seen the rules. At
// first sight 97.5 % exact and acceptable, 82.5 % with the line: the one that hangs is told by its
// silence.
TEST(CauseEvaluation, OfOperatedClusters) {
  judge_whole_logs("operated_clusters", {.exact = 97, .acceptable = 97, .quoted = 82});
}

// Every other stack: of hubs, of Ray, of cloud services, of other accelerators, of research; by who
// had not seen the rules. At first sight 87.5 % exact and acceptable, 72.5 % with the line.
TEST(CauseEvaluation, OfOtherStacks) {
  judge_whole_logs("other_stacks", {.exact = 92, .acceptable = 92, .quoted = 75});
}

// Of a vendor's recipes, and of a mix of trainers and launchers with red herrings, buffered lines
// and several attempts; by two who had not seen the rules. At first sight 90.0 % exact, 91.1 %
// acceptable, 76.7 % with the line. Two hang, which their silence tells; one of the others trained
// all and failed while it saved, which a complete run's `failure` tells.
TEST(CauseEvaluation, OfMixedStacks) {
  judge_whole_logs("mixed_stacks", {.exact = 93, .acceptable = 94, .quoted = 80});
}

// Half of a vendor's recipes, half of every other stack, with red herrings, survived exceptions and
// several attempts; by two who had not seen the rules. At first sight 82.2 % exact and acceptable,
// 67.8 % with the line. Two hang, which their silence tells.
TEST(CauseEvaluation, OfElasticStacks) {
  judge_whole_logs("elastic_stacks", {.exact = 94, .acceptable = 94, .quoted = 78});
}

// Of clusters' operators, of research labs, and everyday failures of every class; by three who had
// not seen the rules. At first sight 93.3 % exact and acceptable, 80.0 % with the line. Three hang,
// which their silence tells: without them 95.5 %.
TEST(CauseEvaluation, OfOperatorsAndLabs) {
  judge_whole_logs("operators_and_labs", {.exact = 96, .acceptable = 96, .quoted = 84});
}

// Of research labs, and of a vendor's recipes; by two who had not seen the rules. At first sight
// 93.8 % exact, 95.0 % acceptable, 75.0 % with the line.
TEST(CauseEvaluation, OfLabsAndRecipes) {
  judge_whole_logs("labs_and_recipes", {.exact = 98, .acceptable = 99, .quoted = 81});
}

// Half of a vendor's recipes, half of other stacks; by who had not seen the rules. At first sight
// 92.5 % exact, 95.0 % acceptable, 77.5 % with the line.
TEST(CauseEvaluation, OfMixedAttempts) {
  judge_whole_logs("mixed_attempts", {.exact = 95, .acceptable = 97, .quoted = 77});
}

// Half of recipes on Slurm sites, half of clouds, other accelerators and containers; by two who had
// not seen the rules. At first sight 92.2 % exact, 93.3 % acceptable, 83.3 % with the line; two
// hang, which no text tells.
TEST(CauseEvaluation, OfSitesAndClouds) {
  judge_whole_logs("sites_and_clouds", {.exact = 95, .acceptable = 96, .quoted = 85});
}

// What users asked about in public threads, in the order in which it was printed there, each inside
// a whole log; by three who had not seen the rules. At first sight 88.5 % exact, 93.1 % acceptable,
// 78.5 % with the line; one hangs.
TEST(CauseEvaluation, OfReportedFailures) {
  judge_whole_logs("reported_failures", {.exact = 93, .acceptable = 96, .quoted = 82});
}

// The same of NVIDIA's programs, and of universities, clouds, other accelerators, fine-tuning and
// storage; by two who had not seen the rules. At first sight 80.0 % exact, 90.0 % acceptable, 78.9
// % with the line.
TEST(CauseEvaluation, OfMoreReportedFailures) {
  judge_whole_logs("more_reported_failures", {.exact = 86, .acceptable = 96, .quoted = 80});
}

// What users asked about, over more stacks; by who had not seen the rules. At first sight 96.7 %
// exact and acceptable, 80.0 % with the line. One hangs.
TEST(CauseEvaluation, OfPublicFailures) {
  judge_whole_logs("public_failures", {.exact = 96, .acceptable = 96, .quoted = 80});
}

// What a team sees that certifies clusters with recipes: a quarter behind an earlier attempt, a
// quarter with the cascade before the root; by who had not seen the rules. At first sight 94.0 %
// exact and acceptable, 88.0 % with the line. One hangs.
TEST(CauseEvaluation, OfCertificationRuns) {
  judge_whole_logs("certification_runs", {.exact = 96, .acceptable = 96, .quoted = 90});
}

// Of teams that run a vendor's recipes on Slurm, and of everyone else who trains; by two who had
// not seen the rules. At first sight 88.3 % exact of either, 95.0 and 90.0 % acceptable, 80.0 %
// with the line. One of each hangs.
TEST(CauseEvaluation, OfSlurmTeams) {
  judge_whole_logs("slurm_teams", {.exact = 91, .acceptable = 98, .quoted = 81});
}

TEST(CauseEvaluation, OfVariedTeams) {
  judge_whole_logs("varied_teams", {.exact = 95, .acceptable = 96, .quoted = 83});
}

// Of recipes and Megatron on sites of 1 to 256 nodes, and of every other stack; 35 classes each, by
// two who had not seen the rules. At first sight 88.9 and 100 % exact, 95.6 and 100 % acceptable,
// 80.0 and 84.4 % with the line.
TEST(CauseEvaluation, OfRecipesAtSites) {
  judge_whole_logs("recipes_at_sites", {.exact = 91, .acceptable = 97, .quoted = 82});
}

TEST(CauseEvaluation, OfManyStacks) {
  judge_whole_logs("many_stacks", {.exact = 100, .acceptable = 100, .quoted = 84});
}

// Of platforms other than plain Slurm, and of large Slurm clusters with the newest software; by two
// who had not seen the rules. At first sight 82.5 and 97.5 % exact, with the line 82.5 and 90.0 %.
TEST(CauseEvaluation, OfOrchestratedRuns) {
  judge_whole_logs("orchestrated_runs", {.exact = 97, .acceptable = 97, .quoted = 92});
}

TEST(CauseEvaluation, OfLargeClusters) {
  judge_whole_logs("large_clusters", {.exact = 100, .acceptable = 100, .quoted = 92});
}

// Of teams that certify clusters with recipes, and of research groups with whatever they have; by
// two who had not seen the rules. At first sight 95.0 and 90.0 % exact and acceptable, 87.5 and
// 67.5 % with the line.
TEST(CauseEvaluation, OfRecipeTeams) {
  judge_whole_logs("recipe_teams", {.exact = 95, .acceptable = 95, .quoted = 87});
}

TEST(CauseEvaluation, OfResearchGroups) {
  judge_whole_logs("research_groups", {.exact = 100, .acceptable = 100, .quoted = 77});
}

// Of who runs the newest builds, and of operators called at night; by two who had not seen the
// rules. At first sight both 97.5 % exact and acceptable, 92.5 and 85.0 % with the line.
TEST(CauseEvaluation, OfFrameworkDevelopers) {
  judge_whole_logs("framework_developers", {.exact = 100, .acceptable = 100, .quoted = 92});
}

TEST(CauseEvaluation, OfNightOperators) {
  judge_whole_logs("night_operators", {.exact = 100, .acceptable = 100, .quoted = 85});
}

// Of recipes on 2 to 256 nodes, and what launchers and daemons say round them; by who had not seen
// the rules. At first sight 92.5 % exact, 97.5 % acceptable, 80.0 % with the line.
TEST(CauseEvaluation, OfRecipesAtScale) {
  judge_whole_logs("recipes_at_scale", {.exact = 95, .acceptable = 100, .quoted = 87});
}

// Trainers of every kind, many of them with lines of their own, and complaints that are survived
// before the cause; by who had not seen the rules. At first sight 87.5 % exact and acceptable.
TEST(CauseEvaluation, OfHomeMadeTrainers) {
  judge_whole_logs("home_made_trainers", {.exact = 97, .acceptable = 97, .quoted = 82});
}

// Of home-made trainers that somebody ended, that a helper complained of, or whose lines begin with
// a number; by who wrote the rules, half of them before. At first sight 78.1 % exact and
// acceptable, 81.2 % with the line. Their healthy likenesses are below.
TEST(CauseEvaluation, OfContinuedRuns) {
  judge_whole_logs("continued_runs", {.exact = 93, .acceptable = 93, .quoted = 99});
}

// Of who brings up new clusters, and of who trains and post-trains for products; by two who had not
// seen the rules. At first sight 95.0 and 93.0 % exact and acceptable, 77.5 and 83.7 % with the
// line.
TEST(CauseEvaluation, OfBringUpTeams) {
  judge_whole_logs("bring_up_teams", {.exact = 97, .acceptable = 97, .quoted = 80});
}

TEST(CauseEvaluation, OfProductTeams) {
  judge_whole_logs("product_teams", {.exact = 97, .acceptable = 97, .quoted = 88});
}

// Of users of computing centres, and of clouds' reference teams; by two who had not seen the rules.
// At first sight 97.5 and 95.0 % exact and acceptable, 90.0 and 92.5 % with the line.
TEST(CauseEvaluation, OfComputingCentres) {
  judge_whole_logs("computing_centres", {.exact = 97, .acceptable = 97, .quoted = 90});
}

TEST(CauseEvaluation, OfReferenceTeams) {
  judge_whole_logs("reference_teams", {.exact = 97, .acceptable = 97, .quoted = 95});
}

}  // namespace
}  // namespace llmb::parser
