#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "parser/catalog/audit_checks.h"

namespace llmb::parser {
namespace {

std::string scales_text(const Recipe& recipe) {
  if (recipe.gpu_count_min == recipe.gpu_count_max) return fmt::format("{}", recipe.gpu_count_min);
  const std::int64_t divisor = recipe.scale_divisor();
  return fmt::format("{} to {}", recipe.gpu_count_min, recipe.gpu_count_max) +
         (divisor > 1 ? fmt::format(" by {}", divisor) : "");
}

}  // namespace

void audit_command(const Catalog& catalog, const PublishedCommand& command, AuditLedger& ledger) {
  if (!command.gpu_count) return;  // a template
  const Document& document = *catalog.document(command.document);
  const FigurePlace place = {command.document, document.release, command.line, 0, command.text};
  ledger.count();
  std::set<std::string> scales;
  for (const Recipe& recipe : catalog.recipes) {
    const bool is_same =
        recipe.document == command.document && recipe.model_size == command.model_size &&
        (command.gpu_type.empty() || recipe.gpu_type == command.gpu_type) &&
        std::find(recipe.dtypes.begin(), recipe.dtypes.end(), command.dtype) != recipe.dtypes.end();
    if (!is_same) continue;
    if (recipe.is_whole_at(*command.gpu_count)) return;
    scales.insert(scales_text(recipe) + " " + recipe.gpu_type);
  }
  std::string known;
  for (const std::string& scale : scales) known += (known.empty() ? "" : ", ") + scale;
  ledger.add(
      place, "gpu_count", fmt::format("{}", *command.gpu_count), {}, {},
      {"no_such_row",
       fmt::format("The document's own tables have {} {} with {} at {} only: no row says how "
                   "this command is to be laid out.",
                   command.model_size, command.dtype,
                   command.gpu_type.empty() ? "any GPU" : command.gpu_type,
                   known.empty() ? "no scale" : known)});
}

}  // namespace llmb::parser
