// What a document prints of one configuration in its tables and its sample output: what its
// examples are held against.
#pragma once

#include <string>

#include "parser/catalog/catalog.h"

namespace llmb::parser {

struct PrintedElsewhere {
  const PrintedNumber* figure = nullptr;  // null: the document prints none elsewhere
  std::string text;                       // the figure in the quantity's unit
  std::string place;                      // "Its table (line 89, column 1)"
};

// Of columns, examples and sample outputs.
template <typename Left, typename Right>
bool are_of_one_configuration(const Left& left, const Right& right) {
  return left.document == right.document && left.model_size == right.model_size &&
         left.dtype == right.dtype && left.gpu_type == right.gpu_type &&
         left.gpu_count == right.gpu_count;
}

// The column of the document's results table for the sample's configuration; null where it has
// none, or the text does not say which configuration it is of.
const Reference* column_of(const Catalog& catalog, const SampleOutput& sample);
// Likewise for an example, the line of a log or a parser that the document prints.
const SampleOutput* sample_of(const Catalog& catalog, const WorkedExample& example);

// By the table, else by the sample output. `quantity` as in WorkedExample.
PrintedElsewhere printed_elsewhere(const Catalog& catalog, const WorkedExample& example);

std::string place_of(const Reference& column);

// Whether some row of the document's configuration tables has that batch.
bool has_batch(const Catalog& catalog, const std::string& document, double batch);
// Of all of them, as its tables write them: "256, 512, GPUs/2 of 128-1024". "none" without rows.
std::string batches_text(const Catalog& catalog, const std::string& document);

}  // namespace llmb::parser
