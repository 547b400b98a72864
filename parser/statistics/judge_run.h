// judge_run: what one log amounts to. The only place where a log's evidence becomes a recipe, a
// window and a summary: ingest, the one-shot parse and every resource of the API call it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "parser/catalog/recipe_match.h"
#include "parser/statistics/run_metrics.h"
#include "parser/statistics/run_summary.h"
#include "parser/statistics/window_choice.h"

namespace llmb::parser {

// Gives the samples of a window at least, ordered by (segment, iteration), each once. They stand
// until the next call.
using SamplesOfWindow = std::function<std::span<const StepSample>(const Window& window)>;

// The global batch size that the log prints, as told before; nothing where it prints none.
struct LoggedBatch {
  std::optional<std::int64_t> size;
};

// What is known of a log. What is referred to outlives the call.
struct RunToJudge {
  const LogFacts& facts;
  // Of its path, its experiment's name, the llmb-config beside it and its own lines.
  const RunConfiguration& configuration;
  SamplesOfWindow samples;
  // Absent: told from the samples of batch_evidence_window().
  std::optional<LoggedBatch> logged_batch = {};
  // A summary of the same facts: taken where its window is the chosen one, so that no sample is
  // asked for. Null: there is none.
  const RunSummary* known_summary = nullptr;
  // The log's job may be alive; turns incomplete into running.
  bool may_still_grow = false;
  std::optional<Silence> silence = {};  // where it is known
};

struct JudgingOptions {
  std::optional<AskedWindow> window = {};      // else the run's own: see choose_window()
  std::optional<double> tokens_to_train = {};  // absent: no metrics are derived
  // Steps of the window that one of these touches do not count; then samples are always asked for.
  StepInterruptionSet without = {};
};

struct Judgement {
  RecipeMatch match;
  std::optional<std::int64_t> logged_global_batch_size;
  std::string window_source;  // "asked for", "grok1-25.05", "release 25.08" …: ChosenWindow
  RunSummary summary;         // over the chosen window, summary.window
  RunMetrics metrics;         // empty where they were not asked for
};

// Pointers in the results live as long as the catalog.
Judgement judge_run(const Catalog& catalog, const RunToJudge& run, const JudgingOptions& options);

// judge_run() in two halves, for callers to whom the window makes a difference. The first one finds
// the recipe and the window: of the summary, only the window is set, and metrics are empty.
Judgement assign_window(const Catalog& catalog, const RunToJudge& run,
                        const std::optional<AskedWindow>& asked);
Judgement judge_window(const Catalog& catalog, const RunToJudge& run, Judgement assigned,
                       const JudgingOptions& options);

}  // namespace llmb::parser
