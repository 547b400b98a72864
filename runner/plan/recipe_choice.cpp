#include "runner/plan/recipe_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace llmb::runner {
namespace {

using parser::Catalog;
using parser::Recipe;

constexpr const char* kUsualDtype = "bf16";
constexpr const char* kUsualGpuType = "h100";

bool names(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The rows that may count: those of one document, or of all that published results. Of equal rows
// the last is the newest: documents stand in the catalog by age.
std::vector<const Recipe*> candidates(const Catalog& catalog, const std::string& workload,
                                      const std::string& model_size, const std::string& document) {
  std::vector<const Recipe*> rows;
  const auto add = [&](const std::vector<Recipe>& recipes) {
    for (const Recipe& recipe : recipes) {
      if (recipe.workload != workload || recipe.model_size != model_size) continue;
      if (document.empty() || recipe.document == document) rows.push_back(&recipe);
    }
  };
  add(catalog.recipes);
  if (!document.empty()) add(catalog.later_recipes);
  return rows;
}

// A layout does not depend on the precision, so a row for another one is better than none.
const Recipe* newest_row(const std::vector<const Recipe*>& rows, const std::string& gpu_type,
                         const std::string& dtype, int scale) {
  const Recipe* best = nullptr;
  for (const Recipe* row : rows) {
    if (row->gpu_type != gpu_type || !row->has_scale(scale)) continue;
    const bool is_for_dtype = dtype.empty() || names(row->dtypes, parser::coarse_dtype(dtype));
    if (best == nullptr || is_for_dtype) best = row;
  }
  return best;
}

// GPU types in the order in which they are tried where none was given.
std::vector<std::string> usual_gpu_types(const Catalog& catalog, const std::string& workload,
                                         const std::vector<const Recipe*>& rows) {
  std::vector<std::string> types;
  const std::string& of_document = catalog.launch_defaults(workload).gpu_type;
  if (!of_document.empty()) types.push_back(of_document);
  types.emplace_back(kUsualGpuType);
  for (const Recipe* row : rows) {
    if (!names(types, row->gpu_type)) types.push_back(row->gpu_type);
  }
  return types;
}

void choose_gpu_type(const std::vector<std::string>& types, const std::vector<const Recipe*>& rows,
                     const std::string& dtype, int scale, RecipeChoice& choice) {
  choice.gpu_type = kUsualGpuType;
  for (const std::string& type : types) {
    choice.recipe = newest_row(rows, type, dtype, scale);
    if (choice.recipe == nullptr) continue;
    choice.gpu_type = type;
    break;
  }
  choice.notes.push_back(fmt::format("no GPU type was given: {}", choice.gpu_type));
}

void choose_dtype(const std::string& given, RecipeChoice& choice) {
  choice.dtype = given.empty() ? kUsualDtype : given;
  if (choice.recipe == nullptr) return;
  const Recipe& row = *choice.recipe;
  if (given.empty() && !names(row.dtypes, kUsualDtype) && !row.dtypes.empty()) {
    choice.dtype = row.dtypes.front();
    choice.notes.push_back(
        fmt::format("no precision was given: {}, which is what document {} line {} is for",
                    choice.dtype, row.document, row.line));
  } else if (!names(row.dtypes, parser::coarse_dtype(choice.dtype))) {
    choice.notes.push_back(fmt::format("document {} line {} is for {}; its layout is used with {}",
                                       row.document, row.line, fmt::join(row.dtypes, ", "),
                                       choice.dtype));
  }
}

// Without a row at this scale nothing else says what the model is published in.
void note_unpublished_dtype(const std::vector<const Recipe*>& rows, const Options& options,
                            const std::string& model_size, RecipeChoice& choice) {
  std::vector<std::string> dtypes;
  for (const Recipe* row : rows) {
    for (const std::string& dtype : row->dtypes) {
      if (!names(dtypes, dtype)) dtypes.push_back(dtype);
    }
  }
  if (choice.recipe != nullptr || options.backend == Backend::cpu || dtypes.empty() ||
      names(dtypes, parser::coarse_dtype(choice.dtype))) {
    return;
  }
  choice.notes.push_back(fmt::format("every row of {} is for {}, and this is {}", model_size,
                                     fmt::join(dtypes, ", "), choice.dtype));
}

parser::Result<void> check_document(const Catalog& catalog, const std::string& workload,
                                    const std::string& wanted) {
  if (wanted.empty()) return {};
  std::vector<std::string> known;
  for (const parser::Document& document : catalog.documents) {
    if (document.workload == workload) known.push_back(document.id);
  }
  if (names(known, wanted)) return {};
  return parser::fail(fmt::format("--document {}: {} has no such document; it has {}", wanted,
                                  workload, fmt::join(known, ", ")));
}

std::string rows_text(const std::vector<const Recipe*>& rows) {
  std::vector<std::string> texts;
  texts.reserve(rows.size());
  for (const Recipe* row : rows) {
    texts.push_back(
        row->gpu_count_min == row->gpu_count_max
            ? fmt::format("{} {}", row->gpu_count_min, row->gpu_type)
            : fmt::format("{} to {} {}", row->gpu_count_min, row->gpu_count_max, row->gpu_type));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

parser::Result<std::string> choose_model_size(const Options& options, const Catalog& catalog) {
  const parser::Workload* const workload = catalog.workload(options.workload);
  // An unknown workload is refused where the model is looked up.
  if (!options.model_size.empty() || workload == nullptr) return options.model_size;
  const std::string& of_document = catalog.launch_defaults(workload->workload).model_size;
  if (!of_document.empty()) return of_document;
  std::vector<std::string> sizes;
  for (const parser::Model& model : catalog.models) {
    if (model.shape.family == workload->family) sizes.push_back(model.shape.size);
  }
  if (sizes.size() == 1) return sizes.front();
  return parser::fail(fmt::format("which size of {}? Give --model-size, or MODEL_SIZE: {}",
                                  workload->workload, fmt::join(sizes, ", ")));
}

parser::Result<RecipeChoice> choose_recipe(const Options& options, const Catalog& catalog,
                                           const std::string& model_size, int scale) {
  const std::string& workload = catalog.workload(options.workload)->workload;
  if (const auto known = check_document(catalog, workload, options.document); !known) {
    return tl::unexpected(known.error());
  }
  RecipeChoice choice;
  const auto rows = candidates(catalog, workload, model_size, options.document);
  if (options.model_size.empty()) {
    choice.notes.push_back(fmt::format("no model size was given: {}", model_size));
  }
  if (options.gpu_type.empty()) {
    choose_gpu_type(usual_gpu_types(catalog, workload, rows), rows, options.dtype, scale, choice);
  } else {
    choice.gpu_type = options.gpu_type;
    choice.recipe = newest_row(rows, options.gpu_type, options.dtype, scale);
  }
  if (!options.document.empty() && choice.recipe == nullptr) {
    return parser::fail(fmt::format("--document {} has no row of {} with {} {}; it has {}",
                                    options.document, model_size, scale, choice.gpu_type,
                                    rows_text(rows)));
  }
  choose_dtype(options.dtype, choice);
  note_unpublished_dtype(rows, options, model_size, choice);
  return choice;
}

}  // namespace llmb::runner
