// How often comparisons call equal sides different, and how often they see a difference: on runs
// that are made for it, and on public ones (run_means.json of the shared folder, where it is
// there). Prints the figures; the bounds are wide enough for the seeds, and no wider.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "parser/foundation/content_hash.h"
#include "parser/statistics/moderated_test.h"
#include "parser/statistics/noise_evidence.h"
#include "parser/statistics/repeat_noise.h"
#include "parser/statistics/window_statistics.h"
#include "tests/parser/statistics/made_runs.h"

namespace llmb::parser {
namespace {

using Shape = std::pair<std::size_t, std::size_t>;
constexpr std::array<Shape, 7> kShapes = {{{1, 1}, {1, 3}, {1, 5}, {2, 2}, {2, 6}, {3, 3}, {5, 5}}};
constexpr double kLevel = 0.05;

constexpr Window kWindow = {11, 44};

double log_location(MadeRuns& runs, double shift) {
  return *log_location_of(runs.run(shift, kWindow), ComparedMetric::step_time_s);
}

std::vector<double> side(MadeRuns& runs, std::size_t count, double shift) {
  std::vector<double> logs;
  while (logs.size() < count) logs.push_back(log_location(runs, shift));
  return logs;
}

// Both sides, and the noise that a comparison of them knows of from `known`.
double p_value(MadeRuns& runs, Shape shape, double shift, std::span<const NoiseRun> known,
               const Window& window = kWindow) {
  std::vector<ComparedRun> made = runs.runs(shape.first, 0, window);
  for (ComparedRun& run : runs.runs(shape.second, shift, window)) made.push_back(std::move(run));
  std::vector<const ComparedRun*> tested;
  std::vector<double> logs;
  for (const ComparedRun& each : made) {
    tested.push_back(&each);
    logs.push_back(*log_location_of(each, ComparedMetric::step_time_s));
  }
  const auto all = std::span<const double>(logs);
  return moderated_test(all.first(shape.first), all.subspan(shape.first), noise_for(tested, known))
      .p_value;
}

struct Rate {
  int alarms = 0;
  int trials = 0;
  void add(double p_value) {
    ++trials;
    alarms += p_value < kLevel ? 1 : 0;
  }
  double value() const { return static_cast<double>(alarms) / trials; }
};

TEST(ComparisonSimulation, OfMadeRunsKeepsItsPromise) {
  constexpr int kTrials = 2000;
  constexpr int kTrialsPerDatabase = 20;
  MadeRuns runs(20261122);
  std::cout << "made runs (0.5 % between runs, AR(1) 0.6, 2 % slow steps), noise learnt from 10 "
               "configurations of 3\n";
  for (const auto& [first, second] : kShapes) {
    Rate equal;
    Rate different;
    RunNoise noise;
    for (int trial = 0; trial < kTrials; ++trial) {
      if (trial % kTrialsPerDatabase == 0) {
        const auto known = noise_runs(runs.other_configurations(10, kWindow));
        const ComparedRun tested = runs.run(0, kWindow);
        noise = noise_for(std::array{&tested}, known);
      }
      const auto base = side(runs, first, 0);
      equal.add(moderated_test(base, side(runs, second, 0), noise).p_value);
      different.add(moderated_test(base, side(runs, second, std::log(1.02)), noise).p_value);
    }
    std::cout << fmt::format("  {} v {}: false alarms {:.1f} %, power at 2 %: {:.2f}\n", first,
                             second, 100 * equal.value(), different.value());
    EXPECT_GT(equal.value(), 0.03);
    EXPECT_LT(equal.value(), 0.06);
    if (first == 3) {
      EXPECT_GE(different.value(), 0.80);
    }
  }
}

// What other windows teach, too.
TEST(ComparisonSimulation, OfMadeRunsKeepsItsPromiseOverShortWindows) {
  constexpr int kTrials = 800;
  MadeRuns runs(20261124);
  std::cout << "made runs tested over 30-35, 10 configurations of 3 known over 11-44\n";
  for (const auto& [first, second] : {Shape{1, 1}, Shape{3, 3}}) {
    Rate equal;
    for (int trial = 0; trial < kTrials; ++trial) {
      const auto known = noise_runs(runs.other_configurations(10, kWindow));
      equal.add(p_value(runs, {first, second}, 0, known, {30, 35}));
    }
    std::cout << fmt::format("  {} v {}: false alarms {:.1f} %\n", first, second,
                             100 * equal.value());
    EXPECT_GT(equal.value(), 0.025);
    EXPECT_LT(equal.value(), 0.065);
  }
}

// Without any runs of the user's own, public ones have to do, which are a seventh as noisy; that a
// window is short is known all the same, and so is what the tested runs show themselves. One
// against one shows nothing, and up to six runs little.
TEST(ComparisonSimulation, OfMadeRunsSaysWhatPublicNoiseCosts) {
  constexpr int kTrials = 1000;
  MadeRuns runs(20261122);
  std::cout << "made runs, noise of public runs and short windows\n";
  for (const Shape& shape : kShapes) {
    Rate equal;
    Rate different;
    for (int trial = 0; trial < kTrials; ++trial) {
      equal.add(p_value(runs, shape, 0, {}));
      different.add(p_value(runs, shape, std::log(1.02), {}));
    }
    std::cout << fmt::format("  {} v {}: false alarms {:.1f} %, power at 2 %: {:.2f}\n",
                             shape.first, shape.second, 100 * equal.value(), different.value());
    EXPECT_LT(equal.value(), 0.07);
    if (shape.first == 3) {
      EXPECT_GE(different.value(), 0.80);
    }
  }
}

// Windows as the documents' own "last step" is: of the steps that are, one in fifty is a slow one,
// which takes half as long again. Two such steps differ by 1 % in one standard deviation.
TEST(ComparisonSimulation, OfMadeRunsKeepsItsPromiseOverOneStepOrTwo) {
  constexpr int kTrials = 500;
  MadeRuns runs(20261130);
  std::cout << "made runs tested over one step or two\n";
  struct Case {
    const char* name;
    int configurations;
    std::size_t repeats;
    bool over_own_window;
    double power_min;
  };
  constexpr std::array kCases = {
      Case{"nothing", 0, 0, false, 0.7}, Case{"10 configurations over 11-44", 10, 0, false, 0.7},
      Case{"10 configurations", 10, 0, true, 0.35},
      Case{"10 repeats over 11-44", 0, 10, false, 0.7}, Case{"10 repeats", 0, 10, true, 0.5}};
  for (const Case& each : kCases) {
    for (const Window& window : {Window{50, 50}, Window{49, 50}}) {
      for (const Shape& shape : {Shape{1, 1}, Shape{1, 5}, Shape{3, 3}}) {
        Rate equal;
        Rate different;
        for (int trial = 0; trial < kTrials; ++trial) {
          const Window& of_known = each.over_own_window ? window : kWindow;
          auto others = runs.other_configurations(each.configurations, of_known);
          for (ComparedRun& run : runs.runs(each.repeats, 0, of_known)) {
            others.push_back(std::move(run));
          }
          const auto known = noise_runs(others);
          equal.add(p_value(runs, shape, 0, known, window));
          different.add(p_value(runs, shape, std::log(1.06), known, window));
        }
        std::cout << fmt::format(
            "  {} known, {} tested, {} v {}: false alarms {:.1f} %, power at 6 %: {:.2f}\n",
            each.name, to_string(window), shape.first, shape.second, 100 * equal.value(),
            different.value());
        EXPECT_LT(equal.value(), 0.07);
        EXPECT_GE(different.value(), each.power_min);
      }
    }
  }
}

// One run against one, where the configuration was measured before: also where its level changed
// meanwhile, and where one run in twenty was odd.
TEST(ComparisonSimulation, OfMadeRunsWithRepeatsDecidesOneAgainstOne) {
  constexpr int kTrials = 1000;
  struct Case {
    const char* name;
    std::size_t repeats;
    double level_change;  // of the older half
    double odd;           // of one run in twenty
    double alarms_min;
    double power_min;
    Window window = kWindow;  // of the tested ones; that of the repeats is 11-44
  };
  constexpr std::array kCases = {
      Case{"5 repeats", 5, 0, 0, 0.03, 0.45},
      Case{"10 repeats", 10, 0, 0, 0.03, 0.6},
      Case{"30 repeats", 30, 0, 0, 0.03, 0.65},
      Case{"20 repeats, another level before", 20, 0.05, 0, 0.02, 0.55},
      Case{"20 repeats, odd ones", 20, 0, 0.1, 0.005, 0.45},
      Case{"30 repeats, tested over 20-40", 30, 0, 0, 0.03, 0.6, {20, 40}},
      Case{"30 repeats, tested over 30-35", 30, 0, 0, 0.03, 0.55, {30, 35}}};
  MadeRuns runs(20261122);
  std::mt19937_64 random(5);  // NOLINT: the same figures each time
  std::cout << "made runs, one against one, noise of repeats and of public runs\n";
  for (const Case& each : kCases) {
    Rate equal;
    Rate different;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<ComparedRun> repeats;
      while (repeats.size() < each.repeats) {
        const bool is_older = repeats.size() < each.repeats / 2;
        const double odd = random() % 20 == 0 ? each.odd : 0;
        repeats.push_back(runs.run((is_older ? each.level_change : 0) + odd, kWindow));
      }
      const std::vector<NoiseRun> known = noise_runs(repeats);
      ASSERT_EQ(known.size(), repeats.size());
      equal.add(p_value(runs, {1, 1}, 0, known, each.window));
      different.add(p_value(runs, {1, 1}, std::log(1.02), known, each.window));
    }
    std::cout << fmt::format("  {}: false alarms {:.1f} %, power at 2 %: {:.2f}\n", each.name,
                             100 * equal.value(), different.value());
    EXPECT_GT(equal.value(), each.alarms_min) << each.name;
    EXPECT_LT(equal.value(), 0.065) << each.name;
    EXPECT_GE(different.value(), each.power_min) << each.name;
  }
}

class PublicRuns : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* const given = std::getenv("LLMB_SHARED_DIR");
    const std::filesystem::path shared =
        given != nullptr ? std::filesystem::path(given)
                         : std::filesystem::path(LLMB_SOURCE_DIR) / ".." / "shared";
    std::ifstream file(shared / "run_means.json");
    if (!file) GTEST_SKIP() << "run_means.json is not on this machine (LLMB_SHARED_DIR)";
    const auto json = nlohmann::json::parse(file);
    for (const auto& entry : json.at("configurations")) {
      std::vector<double> logs;
      for (const double mean : entry.at("run_means")) logs.push_back(std::log(mean));
      const bool is_odd = content_hash(entry.at("configuration").get<std::string>()) % 2 == 1;
      (is_odd ? learning_ : checking_).push_back(std::move(logs));
    }
  }

  std::vector<std::vector<double>> learning_;
  std::vector<std::vector<double>> checking_;
};

TEST_F(PublicRuns, AreWhatTheConstantsSay) {
  std::vector<NoiseGroup> groups;
  for (const auto& logs : learning_) {
    groups.push_back(
        {compute_window_statistics(logs)->stddev_sample, static_cast<std::int64_t>(logs.size())});
  }
  const RunNoise half = learn_run_noise(groups, "half of the public runs");
  std::cout << fmt::format("the learning half ({} configurations): s0 {:.4f} %, d0 {:.2f}\n",
                           groups.size(), 100 * half.stddev, half.degrees_of_freedom);
  EXPECT_NEAR(half.stddev, kPublicNoiseStddev, 0.0001);
  EXPECT_NEAR(half.degrees_of_freedom, kPublicNoiseDegrees, 0.4);
}

// Two of ten runs against each other, the others known, in the order in which they were published.
TEST_F(PublicRuns, OfTheOtherHalfAreToldApartByTheirRepeats) {
  Rate equal;
  Rate different;
  for (const std::vector<double>& logs : checking_) {
    for (std::size_t a = 0; a < logs.size(); ++a) {
      for (std::size_t b = 0; b < logs.size(); ++b) {
        if (a == b) continue;
        std::vector<double> repeats;
        for (std::size_t i = 0; i < logs.size(); ++i) {
          if (i != a && i != b) repeats.push_back(logs[i]);
        }
        const std::array own = {noise_of_repeats(repeats)};
        const RunNoise noise = with_repeats(public_run_noise(), own);
        const std::array base = {logs[a]};
        equal.add(moderated_test(base, std::array{logs[b]}, noise).p_value);
        different.add(moderated_test(base, std::array{logs[b] + std::log(1.01)}, noise).p_value);
      }
    }
  }
  std::cout << fmt::format(
      "1 v 1 of the other half, 8 repeats: false alarms {:.1f} %, power at 1 %: "
      "{:.2f}\n",
      100 * equal.value(), different.value());
  EXPECT_LT(equal.value(), 0.065);
  EXPECT_GE(different.value(), 0.80);
}

TEST_F(PublicRuns, OfTheOtherHalfAreToldApart) {
  constexpr int kDraws = 100;
  std::mt19937_64 random(20261122);
  std::cout << fmt::format("the other half ({} configurations), noise of public runs\n",
                           checking_.size());
  for (const auto& [first, second] : kShapes) {
    Rate equal;
    Rate different;
    for (std::vector<double> logs : checking_) {
      for (int draw = 0; draw < kDraws; ++draw) {
        std::shuffle(logs.begin(), logs.end(), random);
        const std::span base(logs.data(), first);
        const std::span other(logs.data() + first, second);
        equal.add(moderated_test(base, other, public_run_noise()).p_value);
        std::vector<double> slower(other.begin(), other.end());
        for (double& value : slower) value += std::log(1.01);
        different.add(moderated_test(base, slower, public_run_noise()).p_value);
      }
    }
    std::cout << fmt::format("  {} v {}: false alarms {:.1f} %, power at 1 %: {:.2f}\n", first,
                             second, 100 * equal.value(), different.value());
    EXPECT_LT(equal.value(), 0.06);
    if (first == 2 && second == 2) {
      EXPECT_GE(different.value(), 0.80);
    }
  }
}

}  // namespace
}  // namespace llmb::parser
