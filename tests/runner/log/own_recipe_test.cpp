// A run of a published row is that row's, whatever lines the runner writes it in: what llmb-report
// makes of the logs of every row of the documents with results.
#include <gtest/gtest.h>

#include "parser/dialects/stated_configuration.h"
#include "parser/reader/log_reader.h"
#include "parser/statistics/judge_run.h"
#include "runner/step_log.h"

namespace llmb::runner {
namespace {

using parser::Recipe;

std::string log_of_row(const Recipe& row, const std::string& dtype,
                       std::optional<LogFormat> format = {}) {
  Options options;
  options.workload = row.workload;
  options.model_size = row.model_size;
  options.gpu_type = row.gpu_type;
  options.dtype = dtype;
  options.document = row.document;
  options.backend = Backend::cuda;
  options.scale = static_cast<int>(row.gpu_count_min);
  options.log_format = format;
  const auto settings = make_run_settings(options, parser::embedded_catalog());
  if (!settings) return settings.error().message;
  constexpr const char* kDateTime = "2026-11-21 14:25:01";
  const StepLogHead head{settings->log_format, 0, 50, settings->batch.global_batch_size};
  std::string log = configuration_line(*settings);
  for (std::int64_t step = 0; step < head.step_count; ++step) {
    StepRecord record;
    record.step = step;
    record.step_time_s = 20.0;
    log += step_lines(head, record, kDateTime);
  }
  return log + finish_line(head, kDateTime);
}

parser::Judgement judged(const std::string& log) {
  const parser::ParsedLog parsed = parser::parse_log(log);
  const parser::RunConfiguration configuration = parser::stated_configuration(parsed.facts);
  return parser::judge_run(
      parser::embedded_catalog(),
      {.facts = parsed.facts,
       .configuration = configuration,
       .samples = [&](const auto&) { return std::span<const parser::StepSample>(parsed.samples); }},
      {.tokens_to_train = 1e12});
}

TEST(OwnRecipe, IsThatOfEveryPublishedRow) {
  int pairs = 0;
  for (const Recipe& row : parser::embedded_catalog().recipes) {
    for (const std::string& dtype : row.dtypes) {
      SCOPED_TRACE(row.document + " line " + std::to_string(row.line) + ", " + dtype);
      const parser::Judgement judgement = judged(log_of_row(row, dtype));
      ASSERT_NE(judgement.match.recipe, nullptr) << judgement.match.reason;
      EXPECT_EQ(judgement.match.recipe->document, row.document);
      EXPECT_EQ(judgement.match.recipe->line, row.line);
      EXPECT_EQ(judgement.window_source, row.document);
      EXPECT_EQ(judgement.summary.status, parser::RunStatus::complete);
      EXPECT_EQ(judgement.match.is_proxy(), row.is_proxy);
      EXPECT_EQ(judgement.metrics.derived.days_to_train.value.has_value(), !row.is_proxy);
      ++pairs;
    }
  }
  EXPECT_EQ(pairs, 70);
}

// Megatron's lines count from 1, the document's from 0: the same steps.
TEST(OwnRecipe, HasTheDocumentsStepsInAnyNumbering) {
  for (const Recipe& row : parser::embedded_catalog().recipes) {
    if (row.document != "grok1-25.05" || row.gpu_type != "h100") continue;
    const auto judgement = judged(log_of_row(row, "bf16", LogFormat::megatron_bridge));
    EXPECT_EQ(judgement.window_source, "grok1-25.05") << judgement.match.reason;
    EXPECT_EQ(judgement.summary.window, (parser::Window{12, 45}));
  }
}

}  // namespace
}  // namespace llmb::runner
