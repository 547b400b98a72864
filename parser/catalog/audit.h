// The audit: every published figure recomputed from its own row, and every worked example from its
// own text. What the printed decimals of the inputs and of the result can explain, rounded or cut
// off, is no finding.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/catalog/catalog.h"

namespace llmb::parser {

enum class Severity {
  error,    // off by 1 % or more, or wrong in kind
  inexact,  // off by less, yet by more than rounding explains
};
std::string_view severity_name(Severity severity);

struct AuditFinding {
  std::string document;  // Document::id, or where the figure of another release stands
  std::string release;
  std::int64_t line = 0;  // of the row, or of the head of the results table
  std::int64_t column = 0;
  std::string row;       // "pretrain_grok1 314b bf16, 512 gb200", or the line of an example
  std::string quantity;  // "tokens_per_s", "data_parallel", …
  std::string printed;
  std::optional<double> recomputed;           // nothing for a window
  std::optional<double> relative_difference;  // printed / recomputed - 1
  Severity severity = Severity::error;
  std::string slip;         // short snake_case class: "halved", "wrong_dtype_peak", …
  std::string explanation;  // one or two sentences
};

// A figure that cannot be checked, and why.
struct UncheckedFigure {
  std::string document;
  std::int64_t line = 0;
  std::int64_t column = 0;
  std::string row;
  std::string quantity;
  std::string reason;
};

struct Audit {
  std::int64_t figures_checked = 0;
  std::vector<AuditFinding> findings;      // by document, then line, then column
  std::vector<UncheckedFigure> unchecked;  // in the same order
};

// Of the documents (and sources of other releases) that `is_wanted` says yes to.
Audit audit_catalog(const Catalog& catalog,
                    const std::function<bool(const std::string& document)>& is_wanted);

}  // namespace llmb::parser
