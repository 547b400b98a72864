// How well the change points of a history agree with people: prints precision, recall and F1 over
// labelled series in the layout of the Turing Change Point Dataset (van den Burg and Williams,
// arXiv:2003.06222), which is not part of this repository: FOLDER/annotations.json and
// FOLDER/datasets/NAME/NAME.json. Before that, without a folder too: how often made series without
// a change have one, how often one is found within a value of where it is, and how often series are
// said to drift that do, or do not; and how seldom the two newest values alarm falsely.
//
//   change_point_bench [FOLDER]
//
// F1 as that paper defines it: a change counts as found where one lies within five places, the
// beginning of a series is a change that everybody sees, precision is over all annotators' changes
// together, recall the mean over annotators. Series of several dimensions, with gaps, or longer
// than what is segmented are left out, and named.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "parser/statistics/change_points.h"
#include "parser/statistics/level_drift.h"
#include "tests/parser/statistics/newest_level_rates.h"

namespace {

using Json = nlohmann::json;
using Places = std::vector<std::size_t>;  // rising, each once

constexpr std::size_t kMargin = 5;

Json read_json(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  return Json::parse(file);
}

std::optional<std::vector<double>> values_of(const Json& document) {
  const Json& series = document.at("series");
  if (series.size() != 1) return std::nullopt;
  std::vector<double> values;
  for (const Json& value : series.at(0).at("raw")) {
    if (!value.is_number()) return std::nullopt;
    values.push_back(value.get<double>());
  }
  return values;
}

void sort_once(Places& places) {
  places.push_back(0);
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
}

// Of the labelled places, each with a found one of its own.
double count_found(const Places& labelled, Places found) {
  double count = 0;
  for (const std::size_t label : labelled) {
    const auto near = std::find_if(found.begin(), found.end(), [label](std::size_t place) {
      return std::max(place, label) - std::min(place, label) <= kMargin;
    });
    if (near == found.end()) continue;
    found.erase(near);
    ++count;
  }
  return count;
}

struct Score {
  double precision = 0;
  double recall = 0;
  double f1() const { return 2 * precision * recall / (precision + recall); }
};

Score score_of(const std::vector<Places>& annotators, const Places& found) {
  Places together;
  Score score;
  for (const Places& labelled : annotators) {
    together.insert(together.end(), labelled.begin(), labelled.end());
    score.recall += count_found(labelled, found) / static_cast<double>(labelled.size());
  }
  sort_once(together);
  score.recall /= static_cast<double>(annotators.size());
  score.precision = count_found(together, found) / static_cast<double>(found.size());
  return score;
}

// Values of the deviation 1, each of which takes over `dependence` of the one before.
struct Noise {
  const char* name;
  double dependence;
  bool has_long_tails = false;
};
constexpr std::array kNoises = {
    Noise{"normal, AR(1) 0", 0},     Noise{"normal, AR(1) 0.3", 0.3},
    Noise{"normal, AR(1) 0.5", 0.5}, Noise{"normal, AR(1) 0.7", 0.7},
    Noise{"t(3), AR(1) 0", 0, true}, Noise{"t(3), AR(1) 0.5", 0.5, true}};

std::vector<double> made_series(std::mt19937_64& random, std::size_t count, const Noise& noise) {
  std::normal_distribution<double> normal;
  std::student_t_distribution<double> student(3);
  const auto next = [&] {
    return noise.has_long_tails ? student(random) / std::sqrt(3.0) : normal(random);
  };
  constexpr int kForgotten = 20;  // values before the first, which is as all others then
  const double fresh = std::sqrt(1 - noise.dependence * noise.dependence);
  double value = next();
  for (int i = 0; i < kForgotten; ++i) value = noise.dependence * value + fresh * next();
  std::vector<double> values;
  while (values.size() < count) {
    values.push_back(value);
    value = noise.dependence * value + fresh * next();
  }
  return values;
}

void print_false_alarms() {
  constexpr int kSeries = 1000;
  for (const std::size_t count : {5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 40, 100}) {
    std::printf("made, %3zu values: of unchanged series have a change", count);
    for (const Noise& noise : kNoises) {
      std::mt19937_64 random(count);
      int alarms = 0;
      for (int i = 0; i < kSeries; ++i) {
        alarms += llmb::parser::change_points(made_series(random, count, noise)).empty() ? 0 : 1;
      }
      std::printf("%s %.1f %% (%s)", &noise == kNoises.data() ? "" : ",", 100.0 * alarms / kSeries,
                  noise.name);
      std::fflush(stdout);
    }
    std::printf("\n");
  }
}

void print_power() {
  constexpr int kSeries = 200;
  constexpr std::array<std::array<std::size_t, 2>, 12> kLevels = {{{2, 4},
                                                                   {3, 3},
                                                                   {3, 6},
                                                                   {4, 4},
                                                                   {6, 3},
                                                                   {5, 5},
                                                                   {8, 4},
                                                                   {4, 8},
                                                                   {7, 5},
                                                                   {12, 8},
                                                                   {25, 15},
                                                                   {62, 38}}};
  constexpr std::array kChanges = {3.0, 5.0, 10.0};
  for (const auto& [before, after] : kLevels) {
    std::printf("made, %2zu + %2zu values: of 3, 5 and 10 sigma are found", before, after);
    for (const Noise& noise : kNoises) {
      std::mt19937_64 random(before);
      std::array<int, kChanges.size()> found = {};
      for (int i = 0; i < kSeries; ++i) {
        const auto unchanged = made_series(random, before + after, noise);
        for (std::size_t k = 0; k < kChanges.size(); ++k) {
          auto values = unchanged;
          for (std::size_t at = before; at < values.size(); ++at) values[at] += kChanges[k];
          const auto places = llmb::parser::change_points(values);
          const bool is_found =
              places.size() == 1 && places[0] + 1 >= before && places[0] <= before + 1;
          found[k] += is_found ? 1 : 0;
        }
      }
      std::printf("%s %.0f, %.0f and %.0f %% (%s)", &noise == kNoises.data() ? "" : ",",
                  100.0 * found[0] / kSeries, 100.0 * found[1] / kSeries,
                  100.0 * found[2] / kSeries, noise.name);
      std::fflush(stdout);
    }
    std::printf("\n");
  }
}

// The two newest of values of which so many are known, all along one series.
void print_newest_levels() {
  constexpr std::size_t kValues = 200'000;
  for (std::size_t known = llmb::parser::kLevelValuesMin; known <= llmb::parser::kLevelValuesMax;
       ++known) {
    std::printf("made, %2zu known: runs to a false alarm, and the share of 5 sigma told by two",
                known);
    for (const Noise& noise : kNoises) {
      std::mt19937_64 random(known);
      const auto values = made_series(random, kValues, noise);
      const auto rates = llmb::parser::newest_level_rates(values, known);
      std::printf("%s %.0f, %.0f %% (%s)", &noise == kNoises.data() ? "" : ",",
                  rates.runs_per_false_alarm, 100 * rates.power, noise.name);
      std::fflush(stdout);
    }
    std::printf("\n");
  }
}

bool drifts(const std::vector<double>& values) {
  std::vector<llmb::parser::LinePoint> points;
  for (const double value : values) points.push_back({static_cast<double>(points.size()), value});
  return llmb::parser::level_drift(points, llmb::parser::change_points(values), 0).has_value();
}

// What is added to noise: value i of `count`, where `size` is the most.
using Shape = double (*)(std::size_t i, std::size_t count, double size);
double as_it_is(std::size_t, std::size_t, double) {
  return 0;
}
double changed(std::size_t i, std::size_t count, double size) {
  return i < count / 2 ? 0 : size;
}
double moving(std::size_t i, std::size_t count, double size) {
  return size * static_cast<double>(i) / static_cast<double>(count - 1);
}
double moving_later(std::size_t i, std::size_t count, double size) {
  return std::max(0.0, 2 * moving(i, count, size) - size);
}

void print_drifts(const char* what, Shape shape, double size, int series) {
  for (const std::size_t count : {8, 9, 10, 12, 15, 20, 30, 40, 100}) {
    std::printf("made, %3zu values, %s by %.0f sigma: are said to drift", count, what, size);
    for (const Noise& noise : kNoises) {
      std::mt19937_64 random(count);
      int found = 0;
      for (int i = 0; i < series; ++i) {
        auto values = made_series(random, count, noise);
        for (std::size_t at = 0; at < count; ++at) values[at] += shape(at, count, size);
        found += drifts(values) ? 1 : 0;
      }
      std::printf("%s %.1f %% (%s)", &noise == kNoises.data() ? "" : ",", 100.0 * found / series,
                  noise.name);
      std::fflush(stdout);
    }
    std::printf("\n");
  }
}

void print_all_drifts() {
  constexpr int kStill = 1000;
  constexpr int kMoving = 200;
  print_drifts("unchanged", as_it_is, 0, kStill);
  for (const double change : {3.0, 5.0, 10.0})
    print_drifts("changed once", changed, change, kStill);
  for (const double size : {10.0, 20.0, 50.0}) {
    print_drifts("moving", moving, size, kMoving);
    print_drifts("moving in the second half", moving_later, size, kMoving);
  }
}

void print_scores(const std::string& folder) {
  Score sums;
  double sum = 0;
  double sum_without = 0;
  int count = 0;
  const Json annotations = read_json(folder + "/annotations.json");
  for (const auto& [name, labels] : annotations.items()) {
    std::ifstream file(folder + "/datasets/" + name + "/" + name + ".json");
    const auto values = file ? values_of(Json::parse(file)) : std::nullopt;
    if (!values || values->size() > llmb::parser::kSegmentedMax) {
      std::printf("%-20s left out: %s\n", name.c_str(),
                  values ? "too long" : "no file, several dimensions or gaps");
      continue;
    }
    std::vector<Places> annotators;
    for (const Json& label : labels) {
      annotators.push_back(label.get<Places>());
      sort_once(annotators.back());
    }
    Places found = llmb::parser::change_points(*values);
    sort_once(found);
    const Score score = score_of(annotators, found);
    const double f1_without = score_of(annotators, {0}).f1();
    std::printf(
        "%-20s %4zu values, %2zu changes, precision %.3f, recall %.3f, F1 %.3f, of no change "
        "%.3f\n",
        name.c_str(), values->size(), found.size() - 1, score.precision, score.recall, score.f1(),
        f1_without);
    sums.precision += score.precision;
    sums.recall += score.recall;
    sum += score.f1();
    sum_without += f1_without;
    ++count;
  }
  if (count == 0) throw std::runtime_error("no series can be read below " + folder);
  std::printf("mean of %d series: precision %.3f, recall %.3f, F1 %.3f, of no change %.3f\n", count,
              sums.precision / count, sums.recall / count, sum / count, sum_without / count);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2) {
    std::fputs("usage: change_point_bench [FOLDER]\n", stderr);
    return 2;
  }
  try {
    print_false_alarms();
    print_power();
    print_newest_levels();
    print_all_drifts();
    if (argc == 2) print_scores(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "change_point_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
