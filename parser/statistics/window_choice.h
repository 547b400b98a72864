// Which window a run is measured in: what a user asked for, else what its recipe's document makes
// its results of, else what the release that the run names does, else the dialect's default; of a
// function check its only step.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "parser/catalog/recipe_match.h"
#include "parser/step_sample.h"
#include "parser/window.h"

namespace llmb::parser {

struct ChosenWindow {
  Window window;
  std::string source;  // "asked for", "grok1-25.05", "release 25.08", "default of nemo",
                       // "function check"

  bool operator==(const ChosenWindow&) const = default;
};

// The iterations that its results are made of, as that dialect numbers them: llmb-step-runner
// writes a document's run in lines whose numbers may begin elsewhere. Nothing means the last step
// alone.
std::optional<Window> documented_window(const Document& document, Dialect dialect);

// A document speaks for the runs of its own release, for those that name none, and for those that
// name it.
ChosenWindow choose_window(const Catalog& catalog, const std::optional<AskedWindow>& asked,
                           const RecipeMatch& match, const LogFacts& facts);

// Where the log says which batch it trains with: its first 45 iterations. The same steps whether
// a log is read at once or as it grows, so that both find the same recipe.
Window batch_evidence_window(const LogFacts& facts);

// The batch that every step in there with one prints; nothing where they differ or none does.
std::optional<std::int64_t> logged_global_batch_size(std::span<const StepSample> samples,
                                                     const Window& window);

}  // namespace llmb::parser
