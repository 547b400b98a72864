#include "parser/catalog/recipe_match.h"

#include <fmt/format.h>

#include <algorithm>

#include "parser/foundation/name_table.h"
#include "parser/foundation/parse_number.h"

namespace llmb::parser {
namespace {

std::optional<std::int64_t> positive_integer(const std::string& text) {
  return parse_integer(text, 1);
}

std::string or_none(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : "none";
}

// One run against one row: everything that both state.
class RowComparison {
 public:
  RowComparison(const RunEvidence& run, const RecipeMatch& match, const Catalog& catalog,
                const Recipe& recipe)
      : run_(run), match_(match), recipe_(recipe) {
    compare_kind(catalog);
    compare_scale(catalog);
    compare_batch();
    compare_layout();
  }

  std::vector<RecipeMismatch> take() { return std::move(mismatches_); }

 private:
  void add(const std::string& key, const std::string& run_value, const std::string& source,
           const std::string& recipe_value) {
    mismatches_.push_back({key, run_value, source, recipe_value});
  }

  std::string source_of(const std::string& key) const {
    const auto value = run_.configuration.get(key);
    return value ? std::string(config_source_name(value->source)) : "log_content";
  }

  void compare_kind(const Catalog& catalog) {
    if (!match_.gpu_type.empty() && match_.gpu_type != recipe_.gpu_type) {
      add("gpu_type", match_.gpu_type, source_of("gpu_type"), recipe_.gpu_type);
    }
    if (!match_.dtype.empty() &&
        std::count(recipe_.dtypes.begin(), recipe_.dtypes.end(), coarse_dtype(match_.dtype)) == 0) {
      std::string dtypes;
      for (const std::string& dtype : recipe_.dtypes)
        dtypes += (dtypes.empty() ? "" : " or ") + dtype;
      add("dtype", match_.dtype, source_of("dtype"), dtypes);
    }
    const Document* const document = catalog.document(recipe_.document);
    const auto& dialects = document->dialects;
    if (run_.dialect != Dialect::unknown &&
        std::count(dialects.begin(), dialects.end(), run_.dialect) == 0) {
      add("dialect", std::string(dialect_name(run_.dialect)), "log_content",
          std::string(dialect_name(dialects.front())));
    }
  }

  // Names of 2025 give nodes; a node of that GPU type has a known number of GPUs.
  void compare_scale(const Catalog& catalog) {
    auto gpu_count = match_.gpu_count;
    std::string key = "gpu_count";
    if (!gpu_count) {
      const auto nodes = positive_integer(run_.configuration.value("node_count").value_or(""));
      if (!nodes) return;
      gpu_count = *nodes * catalog.gpu(recipe_.gpu_type)->gpus_per_node;
      key = "node_count";
    }
    scale_ = gpu_count;
    if (recipe_.has_scale(*gpu_count)) return;
    std::string range = std::to_string(recipe_.gpu_count_min);
    if (recipe_.gpu_count_max > recipe_.gpu_count_min) {
      range += fmt::format("-{}", recipe_.gpu_count_max);
    }
    add("gpu_count", std::to_string(*gpu_count), source_of(key), range);
  }

  void compare_batch() {
    if (match_.global_batch_size && scale_) {
      const auto expected = recipe_.global_batch_size.value(*scale_);
      if (expected != match_.global_batch_size) {
        std::string text = or_none(expected);
        if (recipe_.global_batch_size.depends_on_gpu_count) {
          text = to_string(recipe_.global_batch_size) + " = " + text;
        }
        const bool is_logged = run_.logged_global_batch_size.has_value();
        add("global_batch_size", std::to_string(*match_.global_batch_size),
            is_logged ? "log_content" : source_of("global_batch_size"), text);
      }
    }
    compare("micro_batch_size", recipe_.micro_batch_size);
  }

  void compare_layout() {
    compare("tensor_parallel", recipe_.tensor_parallel);
    compare("pipeline_parallel", recipe_.pipeline_parallel);
    compare("context_parallel", recipe_.context_parallel);
    compare("expert_parallel", recipe_.expert_parallel);
    compare("expert_tensor_parallel", recipe_.expert_tensor_parallel);
    // Without a pipeline there is nothing to interleave, whatever the table says.
    if (recipe_.pipeline_parallel > 1) {
      compare("virtual_pipeline", recipe_.virtual_pipeline);
    }
  }

  // What the table prints as NA it does not state. "none" in a name does the same as 1.
  void compare(const std::string& key, std::optional<std::int64_t> expected) {
    const auto text = run_.configuration.value(key);
    if (!text || !expected) return;
    const std::int64_t value = *text == "none" ? 1 : positive_integer(*text).value_or(0);
    if (value != *expected && !(*text == "none" && key == "expert_tensor_parallel")) {
      add(key, *text, source_of(key), std::to_string(*expected));
    }
  }

  const RunEvidence& run_;
  const RecipeMatch& match_;
  const Recipe& recipe_;
  std::optional<std::int64_t> scale_;
  std::vector<RecipeMismatch> mismatches_;
};

// A row of another machine or scale is further off than one with another batch, which may be that
// of the other scale by chance.
std::size_t distance(const std::vector<RecipeMismatch>& mismatches) {
  std::size_t sum = 0;
  for (const RecipeMismatch& mismatch : mismatches) {
    const bool is_kind = mismatch.key == "gpu_type" || mismatch.key == "dtype" ||
                         mismatch.key == "dialect" || mismatch.key == "gpu_count";
    sum += is_kind ? 3 : 1;
  }
  return sum;
}

// The only model of that size, where the tree (results/<version>/<dtype>/<size>/…) says no more.
const Model* only_model_of_size(const Catalog& catalog, const std::string& size) {
  const Model* found = nullptr;
  for (const Model& model : catalog.models) {
    if (model.shape.size != size) continue;
    if (found != nullptr) return nullptr;
    found = &model;
  }
  return found;
}

// Names that differ from the catalog's by dots only ("llama31" for "llama3.1") are aliases there.
const Workload* find_workload(const Catalog& catalog, const RunConfiguration& configuration) {
  for (const char* key : {"workload", "model"}) {
    const auto values = configuration.all().find(key);
    if (values == configuration.all().end()) continue;
    for (const ConfigValue& value : values->second) {
      if (const Workload* const found = catalog.workload(value.value)) return found;
    }
  }
  return nullptr;
}

const Workload* workload_of_family(const Catalog& catalog, const std::string& family) {
  for (const Workload& workload : catalog.workloads) {
    if (workload.family == family) return &workload;
  }
  return nullptr;
}

// False where the model cannot be told; the reason then says what to do.
bool find_model(const Catalog& catalog, const RunEvidence& run, RecipeMatch& match) {
  const auto size = run.configuration.value("model_size");
  const auto name = run.configuration.value("workload");
  match.workload = find_workload(catalog, run.configuration);
  if (match.workload == nullptr && name) {
    match.outcome = MatchOutcome::unknown_model;
    match.reason = "The catalog has no workload '" + *name +
                   "': add it to workloads, its shape to models and its rows to recipes in a "
                   "--catalog FILE, or add its name to the aliases of the workload it is.";
    return false;
  }
  if (!size) {
    match.outcome = MatchOutcome::unknown_workload;
    match.reason = std::string(
                       "Neither llmb-config, nor the experiment's name, nor the path says "
                       "the ") +
                   (name ? "model's size." : "workload.");
    return false;
  }
  if (match.workload == nullptr) {
    match.model = only_model_of_size(catalog, *size);
    if (match.model == nullptr) {
      match.outcome = MatchOutcome::unknown_workload;
      match.reason = "Only the size " + *size + " is known, and it is not one model's alone.";
      return false;
    }
    match.workload = workload_of_family(catalog, match.model->shape.family);
    return match.workload != nullptr;
  }
  match.model = catalog.model(match.workload->family, *size);
  if (match.model != nullptr) return true;
  match.outcome = MatchOutcome::unknown_model;
  match.reason = "The catalog has no model " + match.workload->family + " " + *size +
                 ": add its shape to models and its rows to recipes in a --catalog FILE.";
  return false;
}

void read_figures(const RunEvidence& run, RecipeMatch& match) {
  const auto integer = [&](const char* key) {
    return positive_integer(run.configuration.value(key).value_or(""));
  };
  match.dtype = run.configuration.value("dtype").value_or("");
  match.gpu_type = run.configuration.value("gpu_type").value_or("");
  match.release = run.configuration.value("release").value_or("");
  match.gpu_count = integer("gpu_count");
  const auto nodes = integer("node_count");
  const auto per_node = integer("gpus_per_node");
  if (!match.gpu_count && nodes && per_node) match.gpu_count = *nodes * *per_node;
  match.global_batch_size = run.logged_global_batch_size;
  if (!match.global_batch_size) match.global_batch_size = integer("global_batch_size");
}

// Rows of two GPU types may be one recipe: nothing that a metric needs tells them apart.
bool are_alike(const Recipe& a, const Recipe& b) {
  return a.document == b.document && a.sequence_length == b.sequence_length &&
         a.layer_count == b.layer_count && a.global_batch_size == b.global_batch_size &&
         a.gpu_type == b.gpu_type;
}

void consider(const Catalog& catalog, const RunEvidence& run, const Recipe& recipe,
              RecipeMatch& match) {
  if (recipe.workload != match.workload->workload || recipe.model_size != match.model->shape.size) {
    return;
  }
  std::vector<RecipeMismatch> found = RowComparison(run, match, catalog, recipe).take();
  if (found.empty()) {
    match.candidates.push_back(&recipe);
  } else if (match.nearest == nullptr || distance(found) < distance(match.mismatches)) {
    match.nearest = &recipe;
    match.mismatches = std::move(found);
  }
}

std::string row_name(const Recipe& recipe) {
  return fmt::format("{} line {} ({} {} on {})", recipe.document, recipe.line, recipe.workload,
                     recipe.model_size, recipe.gpu_type);
}

void conclude(const Catalog& catalog, RecipeMatch& match) {
  if (match.candidates.empty()) {
    match.outcome = MatchOutcome::mismatched;
    match.reason = "Nearest is " + row_name(*match.nearest) + ", which differs:";
    const char* separator = " ";
    for (const RecipeMismatch& mismatch : match.mismatches) {
      match.reason += separator + mismatch.key + " is " + mismatch.run_value + " (" +
                      mismatch.run_source + ") and not " + mismatch.recipe_value;
      separator = ", ";
    }
    match.reason += ".";
    return;
  }
  match.nearest = nullptr;
  match.mismatches.clear();
  const Recipe& first = *match.candidates.front();
  const bool has_one_document =
      std::all_of(match.candidates.begin(), match.candidates.end(),
                  [&](const Recipe* other) { return other->document == first.document; });
  if (has_one_document) match.document = catalog.document(first.document);
  const bool is_one = std::all_of(match.candidates.begin(), match.candidates.end(),
                                  [&](const Recipe* other) { return are_alike(first, *other); });
  if (!match.gpu_count && match.candidates.size() > 1) {
    match.outcome = MatchOutcome::unknown_scale;
    match.reason = "The run does not say on how many GPUs it ran.";
  } else if (is_one) {
    match.outcome = MatchOutcome::matched;
    match.recipe = &first;
    match.reason = "The recipe of " + row_name(first) + ".";
    if (!match.gpu_count && first.gpu_count_min == first.gpu_count_max) {
      match.gpu_count = first.gpu_count_min;
    }
  } else {
    match.outcome = MatchOutcome::ambiguous;
    match.reason = "Several recipes agree with what is known of the run:";
    const char* separator = " ";
    for (const Recipe* recipe : match.candidates) {
      match.reason += separator + row_name(*recipe);
      separator = ", ";
    }
    match.reason += ".";
    if (match.gpu_type.empty()) match.reason += " llmb-config's gpu_type would tell them apart.";
  }
}

constexpr auto kOutcomes = name_table<MatchOutcome>({
    {MatchOutcome::unknown_workload, "unknown_workload"},
    {MatchOutcome::matched, "matched"},
    {MatchOutcome::ambiguous, "ambiguous"},
    {MatchOutcome::mismatched, "mismatched"},
    {MatchOutcome::unknown_scale, "unknown_scale"},
    {MatchOutcome::unknown_model, "unknown_model"},
});

}  // namespace

std::string_view match_outcome_name(MatchOutcome outcome) {
  return kOutcomes.name(outcome);
}

RecipeMatch match_recipe(const Catalog& catalog, const RunEvidence& run) {
  RecipeMatch match;
  read_figures(run, match);
  if (!find_model(catalog, run, match)) return match;
  for (const Recipe& recipe : catalog.recipes) consider(catalog, run, recipe, match);
  // The documents with results come first: their rows stand for those of other releases that are
  // the same.
  if (match.candidates.empty() && !match.release.empty()) {
    for (const Recipe& recipe : catalog.later_recipes) {
      if (!catalog.document(recipe.document)->speaks_for(match.release)) continue;
      consider(catalog, run, recipe, match);
    }
  }
  if (match.candidates.empty() && match.nearest == nullptr) {
    match.outcome = MatchOutcome::unknown_model;
    match.reason = "The catalog has the model " + match.model->shape.family + " " +
                   match.model->shape.size +
                   ", but no recipe of it: add its rows to recipes in "
                   "a --catalog FILE.";
    return match;
  }
  conclude(catalog, match);
  return match;
}

const Reference* find_reference(const Catalog& catalog, const RecipeMatch& match) {
  if (match.recipe == nullptr || !match.gpu_count) return nullptr;
  const Reference* best = nullptr;
  for (const Reference& reference : catalog.references) {
    const bool is_same = reference.document == match.recipe->document &&
                         reference.model_size == match.recipe->model_size &&
                         reference.gpu_type == match.recipe->gpu_type &&
                         reference.gpu_count == *match.gpu_count &&
                         coarse_dtype(reference.dtype) == coarse_dtype(match.dtype);
    if (!is_same) continue;
    // fp8_cs is compared with fp8_cs where the document has it, and with fp8 where not.
    if (best == nullptr || reference.dtype == match.dtype) best = &reference;
  }
  return best;
}

}  // namespace llmb::parser
