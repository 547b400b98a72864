// A log that ends anywhere within its last steps, as a full disk or a copy leaves it: what is told
// of a step is what the whole log tells of it, or it is left out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "log_samples.h"
#include "parser/step_fields.h"

namespace llmb::parser {
namespace {

constexpr std::size_t kCutBytesMax = 4096;

using Key = std::pair<std::int32_t, std::int64_t>;

std::map<Key, StepSample> by_step(const ParsedLog& log) {
  std::map<Key, StepSample> steps;
  for (const StepSample& sample : log.samples) {
    steps.emplace(Key(sample.segment, sample.iteration), sample);
  }
  return steps;
}

// Where the two lines begin that gave the newest steps.
std::size_t begin_of_last_steps(const ParsedLog& log) {
  std::vector<std::uint64_t> offsets;
  for (const StepSample& sample : log.samples) offsets.push_back(sample.byte_offset);
  std::sort(offsets.begin(), offsets.end());
  offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
  return offsets.size() < 2 ? 0 : offsets[offsets.size() - 2];
}

// What `cut` tells otherwise than `whole`; empty for nothing.
std::string difference(const StepSample& cut, const StepSample& whole) {
  std::string found;
  const auto tell = [&](std::string_view name, double of_cut, double of_whole) {
    found += fmt::format("{}: {} of {}; ", name, of_cut, of_whole);
  };
  for_each_step_field([&](const auto& field) {
    const auto& of_cut = cut.*field.member;
    const auto& of_whole = whole.*field.member;
    if constexpr (requires { of_cut.has_value(); }) {
      if (!of_cut) return;
      const double one = static_cast<double>(*of_cut);
      const double other = of_whole ? static_cast<double>(*of_whole) : -1;
      if (one != other && !(std::isnan(one) && std::isnan(other))) tell(field.name, one, other);
    }
  });
  for (const auto& [name, value] : cut.extra_fields) {
    const auto same = std::find_if(whole.extra_fields.begin(), whole.extra_fields.end(),
                                   [&, &key = name](const auto& one) { return one.first == key; });
    if (same == whole.extra_fields.end()) {
      tell(name, value, -1);
    } else if (same->second != value) {
      tell(name, value, same->second);
    }
  }
  return found;
}

// What each of the logs tells otherwise of the cut log's steps; empty where one tells the same.
std::string difference_to_all(const ParsedLog& cut, const std::vector<const ParsedLog*>& others) {
  std::string all;
  for (const ParsedLog* const other : others) {
    const std::map<Key, StepSample> steps = by_step(*other);
    std::string found;
    for (const auto& [key, sample] : by_step(cut)) {
      const auto same = steps.find(key);
      const std::string own =
          same == steps.end() ? "no such step" : difference(sample, same->second);
      if (!own.empty()) found += "iteration " + std::to_string(key.second) + ": " + own;
    }
    if (found.empty()) return {};
    all += found + "\n";
  }
  return all;
}

// Later lines may tell a step anew: what stands before the cut line, and with it, counts as well.
// False of a log without a step.
bool expect_whole_values_wherever_cut(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  const ParsedLog log = parse_log(bytes);
  if (log.samples.empty()) return false;
  const std::size_t begin = begin_of_last_steps(log);
  const std::size_t end = std::min(bytes.size(), begin + kCutBytesMax);
  ParsedLog before;
  ParsedLog with_line;
  std::size_t line_end = begin;
  for (std::size_t size = begin; size < end; ++size) {
    if (size == line_end) {
      line_end = std::min(bytes.find_first_of("\r\n", size), bytes.size() - 1) + 1;
      before = parse_log(bytes.substr(0, size));
      with_line = parse_log(bytes.substr(0, line_end));
    }
    const std::string cut = bytes.substr(0, size);
    EXPECT_EQ(difference_to_all(parse_log(cut), {&before, &with_line, &log}), "")
        << path.string() << " ends with " << cut.substr(std::max<std::size_t>(size, 60) - 60);
  }
  return true;
}

TEST(CutLog, TellsNothingElseOfItsSteps) {
  int logs = 0;
  for (const auto& path : own_logs()) {
    // Records are glued on their lines, and those that follow tell steps anew, more exactly.
    const std::string name = path.stem().string();
    if (name == "two_and_two" || name == "carriage_returns_with_dllogger") continue;
    logs += expect_whole_values_wherever_cut(path) ? 1 : 0;
  }
  EXPECT_GT(logs, 20);
}

}  // namespace
}  // namespace llmb::parser
