// choose_recipe: which published row the options mean, and what the documents have for a model
// size, precision or GPU type that nobody gave. It decides no layout; see run_settings.h.
#pragma once

#include <string>
#include <vector>

#include "parser/catalog/catalog.h"
#include "parser/result.h"
#include "runner/plan/options.h"

namespace llmb::runner {

struct RecipeChoice {
  std::string dtype;
  std::string gpu_type;
  // Null: no row has this GPU, precision and scale. Lives as long as the catalog.
  const parser::Recipe* recipe = nullptr;
  std::vector<std::string> notes;  // sentences: what was defaulted, and why
};

// The given size, the workload's only one, or its document's default. Refused where there is no
// default, with the sizes.
parser::Result<std::string> choose_model_size(const Options& options,
                                              const parser::Catalog& catalog);

// Refused where --document names none, or one that has no such row.
parser::Result<RecipeChoice> choose_recipe(const Options& options, const parser::Catalog& catalog,
                                           const std::string& model_size, int scale);

}  // namespace llmb::runner
