#include "parser/catalog/recipe_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "parser/catalog/model_overrides.h"
#include "parser/foundation/name_table.h"
#include "parser/foundation/parse_number.h"

namespace llmb::parser {
namespace {

std::optional<std::int64_t> positive_integer(const std::string& text) {
  return parse_integer(text, 1);
}

// Of GPUs and nodes. More are damage; products of two of these, and of such a one with a factor of
// a recipe, fit in 64 bits.
std::optional<std::int64_t> hardware_count(const std::string& text) {
  constexpr std::int64_t kCountMax = 1'000'000;
  return parse_integer(text, 1, kCountMax);
}

std::string or_none(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : "none";
}

constexpr std::array kLayoutKeys = {"micro_batch_size", "tensor_parallel", "pipeline_parallel",
                                    "context_parallel", "expert_parallel", "expert_tensor_parallel",
                                    "virtual_pipeline", "layer_count",     "sequence_length"};
using ExpectedLayout = std::array<std::optional<std::int64_t>, kLayoutKeys.size()>;

// What the table prints as NA it does not state.
ExpectedLayout layout_of(const Recipe& recipe) {
  // Without a pipeline there is nothing to interleave, whatever the table says.
  const bool has_pipeline = recipe.pipeline_parallel > 1;
  return {recipe.micro_batch_size,
          recipe.tensor_parallel,
          recipe.pipeline_parallel,
          recipe.context_parallel,
          recipe.expert_parallel,
          recipe.expert_tensor_parallel,
          has_pipeline ? recipe.virtual_pipeline : std::nullopt,
          recipe.layer_count,
          recipe.sequence_length};
}

bool any_source_says(const RunConfiguration& configuration, std::string_view key,
                     std::string_view wanted) {
  const auto entry = configuration.all().find(key);
  return entry != configuration.all().end() &&
         std::any_of(entry->second.begin(), entry->second.end(),
                     [&](const ConfigValue& value) { return value.value == wanted; });
}

// What the run says of its layout, read once for all rows. "none" in a name does the same as 1.
struct RunLayout {
  struct Figure {
    std::optional<std::string> text;
    std::int64_t value = 0;
  };
  std::array<Figure, kLayoutKeys.size()> figures;
  std::optional<std::int64_t> node_count;
  // Its log or its launcher says so; a name of the 2024 tree says nemo of any run.
  bool is_of_step_runner = false;
  std::string overrides;  // beside these figures

  explicit RunLayout(const RunConfiguration& configuration)
      : node_count(hardware_count(configuration.value("node_count").value_or(""))),
        is_of_step_runner(any_source_says(configuration, "framework", kStepRunnerFramework)),
        overrides(overrides_of_no_figure(configuration)) {
    for (std::size_t i = 0; i < figures.size(); ++i) {
      Figure& figure = figures[i];
      figure.text = configuration.value(kLayoutKeys[i]);
      if (figure.text) {
        figure.value = *figure.text == "none" ? 1 : positive_integer(*figure.text).value_or(0);
      }
    }
  }
};

// One run against one row: everything that both state. Most rows are only measured by their
// distance; what differs is told of one.
class RowComparison {
 public:
  enum class Wants { distance, mismatches };

  RowComparison(const RunEvidence& run, const RunLayout& layout, const RecipeMatch& match,
                const Catalog& catalog, const Recipe& recipe, Wants wants)
      : run_(run), layout_(layout), match_(match), recipe_(recipe), wants_(wants) {
    compare_kind(catalog);
    compare_scale(catalog);
    compare_batch();
    compare_layout();
    compare_overrides();
  }

  // A row of another machine or scale is further off than one with another batch, which may be that
  // of the other scale by chance. 0: nothing differs.
  std::size_t distance() const { return distance_; }
  std::vector<RecipeMismatch> take() { return std::move(mismatches_); }

 private:
  static constexpr std::size_t kKind = 3;
  static constexpr std::size_t kFigure = 1;

  template <typename Describe>
  void add(std::size_t weight, Describe&& describe) {
    distance_ += weight;
    if (wants_ == Wants::mismatches) mismatches_.push_back(describe());
  }

  std::string source_of(const std::string& key) const {
    const auto value = run_.configuration.get(key);
    return value ? std::string(told_source_name(key, value->source)) : "log_content";
  }

  void compare_kind(const Catalog& catalog) {
    if (!match_.gpu_type.empty() && match_.gpu_type != recipe_.gpu_type) {
      add(kKind, [&] {
        return RecipeMismatch{"gpu_type", match_.gpu_type, source_of("gpu_type"), recipe_.gpu_type};
      });
    }
    if (!match_.dtype.empty() &&
        std::count(recipe_.dtypes.begin(), recipe_.dtypes.end(), coarse_dtype(match_.dtype)) == 0) {
      add(kKind, [&] {
        return RecipeMismatch{"dtype", match_.dtype, source_of("dtype"),
                              fmt::format("{}", fmt::join(recipe_.dtypes, " or "))};
      });
    }
    const Document& document = *catalog.document(recipe_.document);
    if (!layout_.is_of_step_runner && !document.has_dialect(run_.dialect)) {
      add(kKind, [&] {
        return RecipeMismatch{"dialect", std::string(dialect_name(run_.dialect)), "log_content",
                              std::string(dialect_name(document.dialects.front()))};
      });
    }
  }

  // Names of 2025 give nodes; a node of that GPU type has a known number of GPUs.
  void compare_scale(const Catalog& catalog) {
    scale_ = match_.gpu_count;
    if (!scale_ && layout_.node_count) {
      scale_ = *layout_.node_count * catalog.gpu(recipe_.gpu_type)->gpus_per_node;
    }
    if (!scale_ || recipe_.has_scale(*scale_)) return;
    add(kKind, [&] {
      std::string range = std::to_string(recipe_.gpu_count_min);
      if (recipe_.gpu_count_max > recipe_.gpu_count_min) {
        range += fmt::format("-{}", recipe_.gpu_count_max);
      }
      return RecipeMismatch{"gpu_count", std::to_string(*scale_),
                            source_of(match_.gpu_count ? "gpu_count" : "node_count"), range};
    });
  }

  void compare_batch() {
    if (!match_.global_batch_size || !scale_) return;
    const auto expected = recipe_.global_batch_size.value(*scale_);
    if (expected == match_.global_batch_size) return;
    add(kFigure, [&] {
      std::string text = or_none(expected);
      if (recipe_.global_batch_size.depends_on_gpu_count) {
        text = to_string(recipe_.global_batch_size) + " = " + text;
      }
      const bool is_logged = run_.logged_global_batch_size.has_value();
      return RecipeMismatch{"global_batch_size", std::to_string(*match_.global_batch_size),
                            is_logged ? "log_content" : source_of("global_batch_size"), text};
    });
  }

  void compare_layout() {
    const ExpectedLayout expected = layout_of(recipe_);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const RunLayout::Figure& figure = layout_.figures[i];
      if (!figure.text || !expected[i] || figure.value == *expected[i]) continue;
      const std::string key = kLayoutKeys[i];
      if (*figure.text == "none" && key == "expert_tensor_parallel") continue;
      add(kFigure, [&] {
        return RecipeMismatch{key, *figure.text, source_of(key), std::to_string(*expected[i])};
      });
    }
  }

  // A run that says it is a proxy is compared with no published result, whatever makes it one.
  void compare_overrides() {
    if (layout_.overrides.empty() || match_.is_stated_proxy) return;
    add(kFigure, [&] {
      return RecipeMismatch{"model_overrides", layout_.overrides, "llmb_config", "none"};
    });
  }

  const RunEvidence& run_;
  const RunLayout& layout_;
  const RecipeMatch& match_;
  const Recipe& recipe_;
  Wants wants_;
  std::optional<std::int64_t> scale_;
  std::size_t distance_ = 0;
  std::vector<RecipeMismatch> mismatches_;
};

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
    if (match.workload != nullptr) return true;
    match.outcome = MatchOutcome::unknown_model;
    match.reason = "The catalog has the model " + match.model->shape.family + " " + *size +
                   ", but no workload of its family: add it to workloads and its rows to recipes "
                   "in a --catalog FILE.";
    return false;
  }
  match.model = catalog.model(match.workload->family, *size);
  if (match.model != nullptr) return true;
  match.outcome = MatchOutcome::unknown_model;
  match.reason = "The catalog has no model " + match.workload->family + " " + *size +
                 ": add its shape to models and its rows to recipes in a --catalog FILE.";
  return false;
}

void read_figures(const RunEvidence& run, RecipeMatch& match) {
  const auto stated = [&](const char* key) { return run.configuration.value(key).value_or(""); };
  match.dtype = stated("dtype");
  match.gpu_type = stated("gpu_type");
  match.release = stated("release");
  match.stated_document = stated("document");
  match.is_stated_proxy = any_source_says(run.configuration, "proxy", "true");
  match.gpu_count = hardware_count(stated("gpu_count"));
  const auto nodes = hardware_count(stated("node_count"));
  const auto per_node = hardware_count(stated("gpus_per_node"));
  if (!match.gpu_count && nodes && per_node) match.gpu_count = *nodes * *per_node;
  match.global_batch_size = run.logged_global_batch_size;
  if (!match.global_batch_size) {
    match.global_batch_size = positive_integer(stated("global_batch_size"));
  }
}

// Rows may be one recipe: nothing that a metric needs tells them apart.
bool are_alike(const Recipe& a, const Recipe& b) {
  return a.document == b.document && a.sequence_length == b.sequence_length &&
         a.layer_count == b.layer_count && a.global_batch_size == b.global_batch_size &&
         a.gpu_type == b.gpu_type;
}

// Rows, one after the other: those that agree, or else the nearest.
class RowSearch {
 public:
  RowSearch(const Catalog& catalog, const RunEvidence& run, RecipeMatch& match)
      : catalog_(catalog), run_(run), layout_(run.configuration), match_(match) {
    const Document* const stated = catalog.document(match.stated_document);
    if (stated != nullptr && stated->source.empty()) only_document_ = stated->id;
  }

  void consider(const Recipe& recipe) {
    if (recipe.workload != match_.workload->workload ||
        recipe.model_size != match_.model->shape.size ||
        (!only_document_.empty() && recipe.document != only_document_)) {
      return;
    }
    const std::size_t distance = compare(recipe, RowComparison::Wants::distance).distance();
    if (distance == 0) {
      match_.candidates.push_back(&recipe);
    } else if (match_.nearest == nullptr || distance < least_) {
      match_.nearest = &recipe;
      least_ = distance;
    }
  }

  // Of the nearest, where none agrees.
  void tell_mismatches() {
    match_.mismatches = compare(*match_.nearest, RowComparison::Wants::mismatches).take();
  }

  // Where rows of several documents agree: those of the release that the run names, else those
  // whose own program writes such lines.
  void keep_likeliest_documents() {
    keep_where([&](const Document& document) {
      return !match_.release.empty() && document.speaks_for(match_.release);
    });
    keep_where([&](const Document& document) { return document.has_dialect(run_.dialect); });
  }

 private:
  // All stay where none fits.
  template <typename Fits>
  void keep_where(Fits fits) {
    std::vector<const Recipe*> kept;
    for (const Recipe* recipe : match_.candidates) {
      if (fits(*catalog_.document(recipe->document))) kept.push_back(recipe);
    }
    if (!kept.empty()) match_.candidates = std::move(kept);
  }

  RowComparison compare(const Recipe& recipe, RowComparison::Wants wants) const {
    return RowComparison(run_, layout_, match_, catalog_, recipe, wants);
  }

  const Catalog& catalog_;
  const RunEvidence& run_;
  const RunLayout layout_;
  RecipeMatch& match_;
  // The one with results that the run says it is of; what other releases' rows share with one of
  // these is its.
  std::string only_document_;
  std::size_t least_ = 0;
};

std::string row_name(const Recipe& recipe) {
  return fmt::format("{} line {} ({} {} on {})", recipe.document, recipe.line, recipe.workload,
                     recipe.model_size, recipe.gpu_type);
}

// What llmb-step-runner says where it keeps less than the row's own program: no other recipe, but
// more work than the published result is of. Empty: as the row.
std::string told_recomputation(const RunEvidence& run, const Recipe& row) {
  const auto stated = run.configuration.value("recompute_layers");
  const auto layers = stated ? parse_integer(*stated, 0) : std::nullopt;
  const std::int64_t of_row = row.recompute_layers.value_or(0);
  if (!layers || *layers == of_row) return {};
  return fmt::format(
      " The run computes {} of a stage's layers forward again, and the row {}: its speed is of {} "
      "work than the published one.",
      *layers, of_row, *layers > of_row ? "more" : "less");
}

void conclude(const Catalog& catalog, const RunEvidence& run, RecipeMatch& match) {
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
    match.reason = "The recipe of " + row_name(first) + "." + told_recomputation(run, first);
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

bool RecipeMatch::is_of(const Document& other) const {
  return other.id == stated_document || other.speaks_for(release);
}

std::string_view match_outcome_name(MatchOutcome outcome) {
  return kOutcomes.name(outcome);
}

RecipeMatch match_recipe(const Catalog& catalog, const RunEvidence& run) {
  RecipeMatch match;
  read_figures(run, match);
  if (!find_model(catalog, run, match)) return match;
  RowSearch rows(catalog, run, match);
  for (const Recipe& recipe : catalog.recipes) rows.consider(recipe);
  // The documents with results come first: their rows stand for those of other releases that are
  // the same.
  const bool names_tables = !match.release.empty() || !match.stated_document.empty();
  if (match.candidates.empty() && names_tables) {
    std::string_view document;  // of the recipe before, for those of one stand together
    bool speaks = false;
    for (const Recipe& recipe : catalog.later_recipes) {
      if (recipe.document != document) {
        document = recipe.document;
        speaks = match.is_of(*catalog.document(document));
      }
      if (speaks) rows.consider(recipe);
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
  if (match.candidates.empty()) rows.tell_mismatches();
  rows.keep_likeliest_documents();
  conclude(catalog, run, match);
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
