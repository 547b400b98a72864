// Which published recipe a run is: by its workload, its dialect, and every figure of its
// configuration that a table states. Where a figure disagrees, no recipe is claimed: the nearest
// one is named with what disagrees. A dialect is asked for of the programs that a document starts:
// llmb-step-runner runs the rows of any, in lines of its own choice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/catalog/catalog.h"
#include "parser/layout/run_configuration.h"
#include "parser/log_facts.h"

namespace llmb::parser {

// What llmb-step-runner's logs and llmb-configs say as their framework.
inline constexpr std::string_view kStepRunnerFramework = "llmb-step-runner";

struct RunEvidence {
  const RunConfiguration& configuration;
  Dialect dialect = Dialect::unknown;
  // What the log itself says of the batch, which outranks names and launcher files: those do not
  // know of overrides.
  std::optional<std::int64_t> logged_global_batch_size;
};

struct RecipeMismatch {
  std::string key;           // as in RunConfiguration
  std::string run_value;     // "512"
  std::string run_source;    // "llmb_config", "log_content" …
  std::string recipe_value;  // "1024", "GPUs/2 = 64"
};

enum class MatchOutcome {
  matched,           // one row, or several that agree in all that metrics need
  ambiguous,         // several rows agree with what is known of the run, and differ
  mismatched,        // rows of this model are there, and each disagrees somewhere
  unknown_scale,     // the run does not say on how many GPUs it ran
  unknown_model,     // the catalog has no such workload or size
  unknown_workload,  // the run does not say what it trains
};
std::string_view match_outcome_name(MatchOutcome outcome);

struct RecipeMatch {
  MatchOutcome outcome = MatchOutcome::unknown_workload;
  std::string reason;  // one sentence; where something is missing, what to add and where
  const Workload* workload = nullptr;
  const Model* model = nullptr;
  const Document* document = nullptr;      // of the recipe, or of all candidates
  const Recipe* recipe = nullptr;          // set for `matched` only
  const Recipe* nearest = nullptr;         // set for `mismatched` only
  std::vector<RecipeMismatch> mismatches;  // of the nearest
  std::vector<const Recipe*> candidates;   // every row that agrees with what is known
  // As used for the match; nothing where the run does not say.
  std::string dtype;             // fine: "fp8_cs"
  std::string gpu_type;          // stated by the run, or empty
  std::string release;           // the same
  std::string stated_document;   // the same: the id of the one whose row it runs
  bool is_stated_proxy = false;  // of any source: a launcher may not know what its program made
  std::optional<std::int64_t> gpu_count;
  std::optional<std::int64_t> global_batch_size;

  bool is_proxy() const { return is_stated_proxy || (recipe != nullptr && recipe->is_proxy); }
  // Whether the run follows that document, as it says itself or by its release.
  bool is_of(const Document& other) const;
};

// Pointers in the result live as long as the catalog.
RecipeMatch match_recipe(const Catalog& catalog, const RunEvidence& run);

// The published result of the same recipe document, scale, dtype and GPU; null without one.
const Reference* find_reference(const Catalog& catalog, const RecipeMatch& match);

}  // namespace llmb::parser
