// Damaged logs: any bytes may be missing, doubled or wrong. Nothing crashes, and what comes out
// keeps the promises of StepSample and LogFacts.
#include <gtest/gtest.h>

#include <random>

#include "log_samples.h"

namespace llmb::parser {
namespace {

// Of each log: enough for what every change breaks, while the fuzz targets look for what few do.
constexpr int kMutations = 60;

std::string mutated(std::string bytes, std::mt19937& random) {
  const auto pick = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit)(random);
  };
  constexpr std::string_view kTokens = "|:=/,[]\n\r\0 0123456789.e-+naninf";
  for (std::size_t edits = pick(30) + 1; edits > 0 && !bytes.empty(); --edits) {
    const std::size_t at = pick(bytes.size() - 1);
    const std::size_t length = std::min(pick(40), bytes.size() - at);
    switch (pick(5)) {
      case 0:
        bytes.erase(at, length);
        break;
      case 1:
        bytes.insert(at, bytes.substr(pick(bytes.size() - 1), length));
        break;
      case 2:
        bytes[at] = static_cast<char>(pick(255));
        break;
      case 3:
        bytes[at] = kTokens[pick(kTokens.size() - 1)];
        break;
      case 4:
        bytes.insert(at, "99999999999999999999");
        break;
      default:
        bytes.insert(at, "e+999");
        break;
    }
  }
  return bytes;
}

void expect_promises_hold(const ParsedLog& log) {
  std::vector<std::int64_t> steps(log.facts.segments.size());
  const StepSample* before = nullptr;
  for (const StepSample& sample : log.samples) {
    ASSERT_GE(sample.segment, 0);
    ASSERT_LT(static_cast<std::size_t>(sample.segment), log.facts.segments.size());
    ++steps[static_cast<std::size_t>(sample.segment)];
    EXPECT_LE(sample.extra_fields.size(), 64U);
    if (sample.tflops_per_gpu) {
      EXPECT_GT(*sample.tflops_per_gpu, 0);
    }
    if (before != nullptr && before->segment == sample.segment) {
      EXPECT_LT(before->iteration, sample.iteration);
    }
    before = &sample;
  }
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    EXPECT_EQ(log.facts.segments[i].step_count, steps[i]);
  }
  EXPECT_LE(log.facts.events.size(), 18U);
  EXPECT_EQ(is_read(log.facts.dialect), !log.samples.empty());
}

void expect_mutations_do_no_harm(const std::filesystem::path& path) {
  SCOPED_TRACE(path.filename().string());
  std::string bytes = read_file(path);
  // Of large logs the part around their steps.
  if (bytes.size() > 20'000) bytes = bytes.substr(bytes.size() - 20'000);
  std::mt19937 random(3);
  for (int round = 0; round < kMutations; ++round) {
    const std::string damaged = mutated(bytes, random);
    const ParsedLog log = parse_log(damaged);
    expect_promises_hold(log);
    LogReader reader;
    reader.feed(std::string_view(damaged).substr(0, damaged.size() / 2));
    EXPECT_TRUE(LogReader::restore(reader.save_state()).has_value());
  }
}

TEST(MutatedLogs, DoNoHarmInOwnLogs) {
  ASSERT_FALSE(own_logs().empty());
  for (const auto& path : own_logs()) expect_mutations_do_no_harm(path);
}

TEST(MutatedLogs, DoNoHarmInRealLogs) {
  if (shared_logs().empty()) GTEST_SKIP() << "the shared collection of logs is not here";
  for (const auto& path : all_shared_logs()) expect_mutations_do_no_harm(path);
}

}  // namespace
}  // namespace llmb::parser
