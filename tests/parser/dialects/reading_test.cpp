// What this reading tells of the tests' logs, as a hash of each: where it changed, kReading
// (parser/reader/reading.h) has to be raised, or databases would not know that what they hold of
// such logs was told by other rules. After that, or where logs came, write the golden file with
//   LLMB_UPDATE_GOLDENS=1 parser_dialects_tests --gtest_filter='GoldenReading.*'
#include "parser/reader/reading.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "labelled_logs.h"
#include "log_samples.h"
#include "parser/dialect.h"
#include "parser/dialects/stated_configuration.h"
#include "parser/foundation/content_hash.h"
#include "parser/foundation/hex.h"
#include "parser/statistics/run_summary.h"

namespace llmb::parser {
namespace {

const std::filesystem::path kGoldenFile =
    std::filesystem::path(LLMB_SOURCE_DIR) / "tests/logs/reading.golden.txt";

// Nine digits: compilers differ in the last ones of a mean.
std::string statistics_text(const std::optional<WindowStatistics>& statistics) {
  if (!statistics) return "-";
  return fmt::format("{} {:.9g} {:.9g} {:.9g} {:.9g} {:.9g} {:.9g}", statistics->count,
                     statistics->mean, statistics->stddev_sample, statistics->median,
                     statistics->min, statistics->max, statistics->p95);
}

std::string summary_text(const RunSummary& summary) {
  return fmt::format("{}|{}|{}|{} {}|{} {} {}|{}|{}|{}", run_status_name(summary.status),
                     summary.status_reason, summary.failure_cause, summary.window.first_iteration,
                     summary.window.last_iteration, summary.segment, summary.segment_count,
                     summary.last_iteration.value_or(-1), summary.window_interruptions,
                     statistics_text(summary.step_time_s), statistics_text(summary.tflops_per_gpu));
}

// All that is told of a text: while its log may grow, and when it is over.
std::uint64_t hash_of_told(const std::string& text, std::uint64_t hash) {
  const ParsedLog log = parse_log(text);
  hash = fnv1a(to_json_text(log), hash);
  const RunConfiguration stated = stated_configuration(log.facts);
  for (const auto& [key, values] : stated.all()) {
    for (const ConfigValue& value : values) hash = fnv1a(key + "=" + value.value + ";", hash);
  }
  const Window window = default_window(log.facts.dialect);
  for (const bool may_still_grow : {true, false}) {
    hash = fnv1a(summary_text(summarize_run(log.samples, log.facts, window, may_still_grow)), hash);
  }
  return hash;
}

// By the name of a log, or of a set of labelled ones.
std::map<std::string, std::string> told_now() {
  std::map<std::string, std::string> told;
  for (const auto& path : own_logs()) {
    const std::string name = (path.parent_path().filename() / path.filename()).string();
    told[name] = hex_text(hash_of_told(read_file(path), kFnv1aBasis));
  }
  const auto folder = std::filesystem::path(LLMB_SOURCE_DIR) / "tests/logs/labelled";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const bool is_of_others = entry.path().stem() == "surroundings";
    if (entry.path().extension() != ".txt" || is_of_others) continue;
    std::uint64_t hash = kFnv1aBasis;
    for (const LabelledLog& log : labelled_logs(entry.path().stem().string())) {
      hash = hash_of_told(log.text, hash);
    }
    told["labelled/" + entry.path().filename().string()] = hex_text(hash);
  }
  return told;
}

struct GoldenTold {
  std::int64_t reading = 0;
  std::map<std::string, std::string> told;
};

GoldenTold read_golden() {
  GoldenTold golden;
  std::ifstream file(kGoldenFile);
  std::string word;
  file >> word >> golden.reading;
  for (std::string hash; file >> hash >> word;) golden.told[word] = hash;
  return golden;
}

// Of those logs that are known before and now; a log that is new changes nothing that is stored.
std::string changed_names(const std::map<std::string, std::string>& now,
                          const std::map<std::string, std::string>& before) {
  std::string names;
  for (const auto& [name, hash] : now) {
    const auto known = before.find(name);
    if (known != before.end() && known->second != hash) names += "\n  " + name;
  }
  return names;
}

TEST(GoldenReading, IsRaisedWhereWhatIsToldOfALogChanged) {
  const GoldenTold golden = read_golden();
  const auto told = told_now();
  ASSERT_FALSE(told.empty());
  if (told == golden.told && golden.reading == kReading) return;
  ASSERT_GE(kReading, golden.reading) << "databases hold runs of that one already";
  const std::string changed = changed_names(told, golden.told);
  if (kReading == golden.reading) {
    ASSERT_EQ(changed, "") << "What is told of these logs has changed: raise kReading in "
                              "parser/reader/reading.h, then write the golden file anew.";
  }
  ASSERT_NE(std::getenv("LLMB_UPDATE_GOLDENS"), nullptr)
      << "kReading was raised, or logs came or went: write the golden file anew with "
         "LLMB_UPDATE_GOLDENS=1.";
  std::ofstream file(kGoldenFile, std::ios::binary);
  file << "reading " << kReading << '\n';
  for (const auto& [name, hash] : told) file << hash << ' ' << name << '\n';
}

}  // namespace
}  // namespace llmb::parser
