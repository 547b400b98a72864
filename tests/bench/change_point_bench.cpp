// How well the change points of a history agree with people: prints the F1 over labelled series in
// the layout of the Turing Change Point Dataset (van den Burg and Williams, arXiv:2003.06222),
// which is not part of this repository: FOLDER/annotations.json and FOLDER/datasets/NAME/NAME.json.
//
//   change_point_bench FOLDER
//
// F1 as that paper defines it: a change counts as found where one lies within five places, the
// beginning of a series is a change that everybody sees, precision is over all annotators' changes
// together, recall the mean over annotators. Series of several dimensions, with gaps, or longer
// than what is segmented are left out, and named.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
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

double f1_of(const std::vector<Places>& annotators, const Places& found) {
  Places together;
  double recall = 0;
  for (const Places& labelled : annotators) {
    together.insert(together.end(), labelled.begin(), labelled.end());
    recall += count_found(labelled, found) / static_cast<double>(labelled.size());
  }
  sort_once(together);
  recall /= static_cast<double>(annotators.size());
  const double precision = count_found(together, found) / static_cast<double>(found.size());
  return 2 * precision * recall / (precision + recall);
}

void print_scores(const std::string& folder) {
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
    const double f1 = f1_of(annotators, found);
    const double f1_without = f1_of(annotators, {0});
    std::printf("%-20s %4zu values, %2zu changes, F1 %.3f, of no change %.3f\n", name.c_str(),
                values->size(), found.size() - 1, f1, f1_without);
    sum += f1;
    sum_without += f1_without;
    ++count;
  }
  if (count == 0) throw std::runtime_error("no series can be read below " + folder);
  std::printf("mean of %d series: F1 %.3f, of no change %.3f\n", count, sum / count,
              sum_without / count);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: change_point_bench FOLDER\n", stderr);
    return 2;
  }
  try {
    print_scores(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "change_point_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
