#include "server/report/run_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

namespace llmb::report {
namespace {

using Details = std::array<std::string, 3>;  // empty: not known

Details details_of(const parser::ComparedRun& run) {
  const auto release = run.configuration.value("release");
  return {run.cluster.value_or(""), release ? "release " + *release : "",
          run.job_id ? fmt::format("job {}", *run.job_id) : ""};
}

// Of `alike` runs, at least two.
std::vector<std::string> by_details(const std::vector<const parser::ComparedRun*>& alike) {
  std::vector<Details> details;
  details.reserve(alike.size());
  for (const parser::ComparedRun* const run : alike) details.push_back(details_of(*run));
  std::vector<std::vector<std::string>> told(alike.size());
  for (std::size_t key = 0; key < std::tuple_size_v<Details>; ++key) {
    std::set<std::string> values;
    for (const Details& own : details) values.insert(own.at(key));
    if (values.size() < 2) continue;
    for (std::size_t i = 0; i < alike.size(); ++i) {
      if (!details[i].at(key).empty()) told[i].push_back(details[i].at(key));
    }
  }
  std::vector<std::string> names;
  names.reserve(told.size());
  for (const auto& own : told) names.push_back(fmt::format("{}", fmt::join(own, ", ")));
  return names;
}

// How many of their first characters name folders that all are in.
std::size_t common_folders(const std::vector<const parser::ComparedRun*>& alike) {
  std::string_view common = alike.front()->path;
  for (const parser::ComparedRun* const run : alike) {
    const auto [own, other] = std::ranges::mismatch(common, run->path);
    common = common.substr(0, static_cast<std::size_t>(own - common.begin()));
  }
  const std::size_t slash = common.rfind('/');
  return slash == std::string_view::npos ? 0 : slash + 1;
}

std::vector<std::string> names_of(const std::vector<const parser::ComparedRun*>& alike) {
  std::vector<std::string> names = by_details(alike);
  const bool are_distinct = std::set(names.begin(), names.end()).size() == names.size();
  if (are_distinct) return names;
  const std::size_t begin = common_folders(alike);
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = alike[i]->path.substr(begin);
  return names;
}

}  // namespace

std::vector<std::string> distinct_run_names(const std::vector<parser::ComparedRun>& runs) {
  std::map<std::string_view, std::vector<const parser::ComparedRun*>> by_experiment;
  for (const parser::ComparedRun& run : runs) by_experiment[run.experiment].push_back(&run);
  std::map<const parser::ComparedRun*, std::string> told;
  for (const auto& [experiment, alike] : by_experiment) {
    if (alike.size() < 2) continue;
    const std::vector<std::string> names = names_of(alike);
    for (std::size_t i = 0; i < alike.size(); ++i) told[alike[i]] = names[i];
  }
  std::vector<std::string> names;
  for (const parser::ComparedRun& run : runs) {
    const auto own = told.find(&run);
    const bool has_detail = own != told.end() && !own->second.empty();
    names.push_back(has_detail ? fmt::format("{} ({})", run.experiment, own->second)
                               : run.experiment);
  }
  return names;
}

}  // namespace llmb::report
