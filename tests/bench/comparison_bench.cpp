// How often a comparison calls equal runs different, and how often it sees a difference, for all
// that a comparison may know: made runs (tests/parser/statistics/made_runs.h) of several shapes,
// windows, and sources of noise, and the public runs that were kept to check, where their file is
// given. Figures of 3 to 6 % are what is promised; others are marked with `!`.
//
//   comparison_bench [TRIALS] [RUN_MEANS_JSON] [SEED]
//
// 4,000, none, and a fixed one where not given. By 4,000 trials 5 % is known to 0.35 %.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "parser/foundation/content_hash.h"
#include "parser/statistics/moderated_test.h"
#include "parser/statistics/noise_evidence.h"
#include "parser/statistics/repeat_noise.h"
#include "tests/parser/statistics/made_runs.h"

namespace {

using llmb::parser::ComparedRun;
using llmb::parser::MadeRuns;
using llmb::parser::NoiseRun;
using llmb::parser::RunNoise;
using llmb::parser::Window;

struct Shape {
  std::size_t base;
  std::size_t other;
};
constexpr std::array<Shape, 7> kShapes = {{{1, 1}, {1, 3}, {1, 5}, {2, 2}, {2, 6}, {3, 3}, {5, 5}}};
constexpr std::array<Window, 6> kWindows = {
    {{11, 44}, {35, 44}, {20, 40}, {30, 35}, {49, 50}, {50, 50}}};
constexpr std::array<std::size_t, 5> kRepeats = {0, 5, 8, 10, 30};
constexpr Window kUsualWindow = {11, 44};
constexpr double kLevel = 0.05;

struct Rates {
  int trials = 0;
  int alarms = 0;
  int seen = 0;

  void add(std::span<const double> base, std::span<const double> other, const RunNoise& noise,
           double difference) {
    std::vector<double> slower(other.begin(), other.end());
    for (double& value : slower) value += std::log1p(difference);
    ++trials;
    alarms += llmb::parser::moderated_test(base, other, noise).p_value < kLevel ? 1 : 0;
    seen += llmb::parser::moderated_test(base, slower, noise).p_value < kLevel ? 1 : 0;
  }
  std::string text() const {
    if (trials == 0) return fmt::format("{:>13}", "-");
    const double rate = 100.0 * alarms / trials;
    return fmt::format("{:6.1f}{} {:5.2f}", rate, rate < 3 || rate > 6 ? '!' : ' ',
                       static_cast<double>(seen) / trials);
  }
};
using RatesByShape = std::array<Rates, kShapes.size()>;

void print_head(const std::string& what) {
  std::printf("%-52s", what.c_str());
  for (const Shape& shape : kShapes) std::printf("      %zu v %zu", shape.base, shape.other);
  std::printf("\n");
}

void print(const std::string& name, const RatesByShape& rates) {
  std::printf("  %-50s", name.c_str());
  for (const Rates& each : rates) std::printf("%s", each.text().c_str());
  std::printf("\n");
  std::fflush(stdout);
}

// One trial of each shape, with noise from `known`.
void try_shapes(MadeRuns& runs, const std::vector<NoiseRun>& known, const Window& window,
                double difference, RatesByShape& rates) {
  for (std::size_t i = 0; i < kShapes.size(); ++i) {
    const auto made = runs.runs(kShapes[i].base + kShapes[i].other, 0, window);
    std::vector<const ComparedRun*> tested;
    std::vector<double> logs;
    for (const ComparedRun& each : made) {
      tested.push_back(&each);
      logs.push_back(*log_location_of(each, llmb::parser::ComparedMetric::step_time_s));
    }
    const auto all = std::span<const double>(logs);
    rates[i].add(all.first(kShapes[i].base), all.subspan(kShapes[i].base),
                 llmb::parser::noise_for(tested, known), difference);
  }
}

void measure_made_runs(int trials, std::uint64_t seed) {
  constexpr double kDifference = 0.02;
  constexpr std::array<int, 2> kConfigurations = {0, 10};
  for (const int configurations : kConfigurations) {
    print_head(configurations == 0 ? "made runs, alarms (%) and power at 2 %; public noise"
                                   : "the same; 10 configurations of 3 runs known");
    for (const std::size_t repeats : kRepeats) {
      for (const Window& window : kWindows) {
        for (const bool is_own_window : {false, true}) {
          if (is_own_window && (repeats == 0 || window == kUsualWindow)) continue;
          MadeRuns runs(seed);
          const Window& of_known = is_own_window ? window : kUsualWindow;
          RatesByShape rates;
          for (int trial = 0; trial < trials; ++trial) {
            auto others = runs.other_configurations(configurations, of_known);
            for (ComparedRun& run : runs.runs(repeats, 0, of_known)) {
              others.push_back(std::move(run));
            }
            try_shapes(runs, llmb::parser::noise_runs(others), window, kDifference, rates);
          }
          print(fmt::format("{} repeats over {}, tested over {}", repeats,
                            llmb::parser::to_string(of_known), llmb::parser::to_string(window)),
                rates);
        }
      }
    }
  }
}

std::vector<std::vector<double>> read_kept_half(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  const auto json = nlohmann::json::parse(file);
  std::vector<std::vector<double>> kept;
  for (const auto& entry : json.at("configurations")) {
    const auto name = entry.at("configuration").get<std::string>();
    if (llmb::parser::content_hash(name) % 2 == 1) continue;  // the constants were learnt from it
    kept.emplace_back();
    for (const double mean : entry.at("run_means")) kept.back().push_back(std::log(mean));
  }
  return kept;
}

// Of each configuration runs in random order: the tested ones and then the repeats, as far as they
// go. No run is drawn twice in a trial.
void measure_public_runs(int trials, std::uint64_t seed, const std::string& path) {
  constexpr double kDifference = 0.01;
  auto kept = read_kept_half(path);
  print_head(fmt::format("public runs, {} configurations, power at 1 %", kept.size()));
  std::mt19937_64 random(seed);
  for (const std::size_t repeats : {0, 3, 5, 6, 8}) {
    RatesByShape rates;
    for (int trial = 0; trial < trials; ++trial) {
      std::vector<double>& logs = kept[static_cast<std::size_t>(trial) % kept.size()];
      for (std::size_t i = 0; i < kShapes.size(); ++i) {
        const auto [base, other] = kShapes[i];
        if (base + other + repeats > logs.size()) continue;
        std::shuffle(logs.begin(), logs.end(), random);
        const auto all = std::span<const double>(logs);
        const std::array own = {llmb::parser::noise_of_repeats(all.subspan(base + other, repeats))};
        const RunNoise noise = llmb::parser::with_repeats(llmb::parser::public_run_noise(), own);
        rates[i].add(all.first(base), all.subspan(base, other), noise, kDifference);
      }
    }
    print(fmt::format("{} repeats", repeats), rates);
  }
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::uint64_t kSeed = 20261124;
  const int trials = argc > 1 ? std::atoi(argv[1]) : 4'000;
  const std::uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : kSeed;
  if (trials < 1) {
    std::fputs("usage: comparison_bench [TRIALS] [RUN_MEANS_JSON] [SEED]\n", stderr);
    return 2;
  }
  try {
    if (argc > 2) measure_public_runs(trials, seed, argv[2]);
    measure_made_runs(trials, seed);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "comparison_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
