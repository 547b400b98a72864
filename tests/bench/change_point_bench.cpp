// How well the change points of a history agree with people: prints precision, recall and F1 over
// labelled series in the layout of the Turing Change Point Dataset (van den Burg and Williams,
// arXiv:2003.06222), which is not part of this repository: FOLDER/annotations.json and
// FOLDER/datasets/NAME/NAME.json. Before that, without a folder too: how often made series without
// a change have one, and how often one is found within a value of where it is.
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

// Normal values of the deviation 1, each of which takes over `dependence` of the one before.
std::vector<double> made_series(std::mt19937_64& random, std::size_t count, double dependence) {
  std::normal_distribution<double> normal;
  std::vector<double> values;
  double value = normal(random);
  while (values.size() < count) {
    values.push_back(value);
    value = dependence * value + std::sqrt(1 - dependence * dependence) * normal(random);
  }
  return values;
}

void print_rates() {
  constexpr int kSeries = 200;
  constexpr std::array<std::size_t, 4> kCounts = {12, 20, 40, 100};
  constexpr std::array kDependences = {0.0, 0.5, 0.7};
  constexpr std::array kChanges = {2.0, 3.0, 5.0};
  for (const std::size_t count : kCounts) {
    for (const double dependence : kDependences) {
      std::mt19937_64 random(count);
      int alarms = 0;
      std::array<int, kChanges.size()> found = {};
      for (int i = 0; i < kSeries; ++i) {
        llmb::parser::SegmentationOptions options;
        options.seed = static_cast<std::uint64_t>(i);
        const auto unchanged = made_series(random, count, dependence);
        alarms += llmb::parser::change_points(unchanged, options).empty() ? 0 : 1;
        const std::size_t at = count * 5 / 8;
        for (std::size_t k = 0; k < kChanges.size(); ++k) {
          auto values = unchanged;
          for (std::size_t place = at; place < count; ++place) values[place] += kChanges[k];
          const auto places = llmb::parser::change_points(values, options);
          const bool is_found = places.size() == 1 && places[0] + 1 >= at && places[0] <= at + 1;
          found[k] += is_found ? 1 : 0;
        }
      }
      std::printf(
          "made, %3zu values, AR(1) %.1f: %4.1f %% without a change have one; of 2, 3 and 5 "
          "sigma %3.0f, %3.0f and %3.0f %% are found\n",
          count, dependence, 100.0 * alarms / kSeries, 100.0 * found[0] / kSeries,
          100.0 * found[1] / kSeries, 100.0 * found[2] / kSeries);
      std::fflush(stdout);
    }
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
    print_rates();
    if (argc == 2) print_scores(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "change_point_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
