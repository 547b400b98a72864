#include "parser/catalog/printed_elsewhere.h"

#include <fmt/format.h>

#include <algorithm>

#include "parser/catalog/audit_ledger.h"

namespace llmb::parser {
namespace {

template <typename List, typename Entry>
auto of_same_configuration(const List& list, const Entry& entry) -> decltype(list.data()) {
  if (!entry.gpu_count) return nullptr;
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto& other) {
    return other.document == entry.document && other.model_size == entry.model_size &&
           other.dtype == entry.dtype && other.gpu_type == entry.gpu_type &&
           other.gpu_count == *entry.gpu_count;
  });
  return found == list.end() ? nullptr : &*found;
}

const PrintedNumber* figure_of(const Reference& column, const std::string& quantity) {
  const std::optional<PrintedNumber>* const figure =
      quantity == "step_time_s"        ? &column.step_time_s
      : quantity == "tokens_per_s"     ? &column.tokens_per_s
      : quantity == "mfu_percent"      ? &column.mfu_percent
      : quantity == "days_to_train_1t" ? &column.days_to_train_1t
                                       : nullptr;
  return figure != nullptr && *figure ? &**figure : nullptr;
}

}  // namespace

const Reference* column_of(const Catalog& catalog, const WorkedExample& example) {
  return of_same_configuration(catalog.references, example);
}

const Reference* column_of(const Catalog& catalog, const SampleOutput& sample) {
  return of_same_configuration(catalog.references, sample);
}

const SampleOutput* sample_of(const Catalog& catalog, const WorkedExample& example) {
  return of_same_configuration(catalog.sample_outputs, example);
}

PrintedElsewhere printed_elsewhere(const Catalog& catalog, const WorkedExample& example) {
  if (const Reference* const column = column_of(catalog, example)) {
    const PrintedNumber* const figure = figure_of(*column, example.quantity);
    return {figure, figure != nullptr ? figure->text : "", place_of(*column)};
  }
  const SampleOutput* const sample = sample_of(catalog, example);
  if (sample != nullptr && example.quantity == "step_time_s" && sample->step_time_s) {
    return {&*sample->step_time_s, figure_text(sample->step_time_s->value), place_of(*sample)};
  }
  return {};
}

std::string place_of(const Reference& column) {
  return fmt::format("Its table (line {}, column {})", column.line, column.column);
}

std::string place_of(const SampleOutput& sample) {
  return fmt::format("Its sample output (line {})", sample.line);
}

std::set<std::int64_t> batches_of(const Catalog& catalog, const std::string& document) {
  std::set<std::int64_t> batches;
  for (const Recipe& recipe : catalog.recipes) {
    if (recipe.document != document) continue;
    for (std::int64_t scale = recipe.gpu_count_min; scale <= recipe.gpu_count_max; ++scale) {
      if (const auto batch = recipe.global_batch_size.value(scale)) batches.insert(*batch);
      if (!recipe.global_batch_size.depends_on_gpu_count) break;
    }
  }
  return batches;
}

}  // namespace llmb::parser
