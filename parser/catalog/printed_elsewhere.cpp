#include "parser/catalog/printed_elsewhere.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "parser/catalog/audit_ledger.h"

namespace llmb::parser {
namespace {

template <typename List, typename Entry>
auto of_same_configuration(const List& list, const Entry& entry) -> decltype(list.data()) {
  if (!entry.gpu_count) return nullptr;
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto& other) {
    return are_of_one_configuration(other, entry);
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

bool is_batch_of_a_range(const Recipe& row) {
  return row.global_batch_size.depends_on_gpu_count && row.gpu_count_min < row.gpu_count_max;
}

bool is_batch_of(const Recipe& row, double batch) {
  const ScaleFormula& formula = row.global_batch_size;
  if (!is_batch_of_a_range(row)) {
    const auto own = formula.value(row.gpu_count_min);
    return own && batch == static_cast<double>(*own);
  }
  const double scale =
      batch * static_cast<double>(formula.divisor) / static_cast<double>(formula.factor);
  const bool is_in_range = static_cast<double>(row.gpu_count_min) <= scale &&
                           scale <= static_cast<double>(row.gpu_count_max);
  return is_in_range && scale == std::floor(scale) &&
         row.is_whole_at(static_cast<std::int64_t>(scale));
}

std::string batch_range_text(const Recipe& row) {
  std::string text = fmt::format("{} of {}-{}", to_string(row.global_batch_size), row.gpu_count_min,
                                 row.gpu_count_max);
  // That a batch is a whole number need not be said.
  const std::int64_t divisor = row.scale_divisor();
  if (divisor > row.global_batch_size.divisor) text += fmt::format(" by {}", divisor);
  return text;
}

}  // namespace

const Reference* column_of(const Catalog& catalog, const SampleOutput& sample) {
  return of_same_configuration(catalog.references, sample);
}

const SampleOutput* sample_of(const Catalog& catalog, const WorkedExample& example) {
  return of_same_configuration(catalog.sample_outputs, example);
}

PrintedElsewhere printed_elsewhere(const Catalog& catalog, const WorkedExample& example) {
  if (const Reference* const column = of_same_configuration(catalog.references, example)) {
    const PrintedNumber* const figure = figure_of(*column, example.quantity);
    return {figure, figure != nullptr ? figure->text : "", place_of(*column)};
  }
  const SampleOutput* const sample = sample_of(catalog, example);
  if (sample != nullptr && example.quantity == "step_time_s" && sample->step_time_s) {
    return {&*sample->step_time_s, figure_text(sample->step_time_s->value),
            fmt::format("Its sample output (line {})", sample->line)};
  }
  return {};
}

std::string place_of(const Reference& column) {
  return fmt::format("Its table (line {}, column {})", column.line, column.column);
}

bool has_batch(const Catalog& catalog, const std::string& document, double batch) {
  return std::any_of(catalog.recipes.begin(), catalog.recipes.end(), [&](const Recipe& row) {
    return row.document == document && is_batch_of(row, batch);
  });
}

std::string batches_text(const Catalog& catalog, const std::string& document) {
  std::set<std::int64_t> numbers;
  std::set<std::string> ranges;
  for (const Recipe& row : catalog.recipes) {
    if (row.document != document) continue;
    if (is_batch_of_a_range(row)) {
      ranges.insert(batch_range_text(row));
    } else if (const auto batch = row.global_batch_size.value(row.gpu_count_min)) {
      numbers.insert(*batch);
    }
  }
  std::vector<std::string> texts;
  texts.reserve(numbers.size() + ranges.size());
  for (const std::int64_t number : numbers) texts.push_back(std::to_string(number));
  texts.insert(texts.end(), ranges.begin(), ranges.end());
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace llmb::parser
