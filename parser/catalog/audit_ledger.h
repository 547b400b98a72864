// Audit, what an audit finds, and AuditLedger, where its checks write that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/catalog/arithmetic.h"

namespace llmb::parser {

enum class Severity {
  error,    // off by 1 % or more, or wrong in kind
  inexact,  // off by less, yet by more than rounding explains
};
std::string_view severity_name(Severity severity);  // "error", "inexact"

struct AuditFinding {
  std::string document;              // Document::id, or where the figure of another release stands
  bool is_of_other_release = false;  // not of a recipe document that the catalog has whole
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

struct AuditCounts {
  std::int64_t figures_checked = 0;
  std::int64_t findings = 0;
  std::int64_t unchecked = 0;
};

struct Audit {
  AuditCounts documents;       // of the recipe documents
  AuditCounts other_releases;  // of the tables and results of other releases, earlier and later
  std::int64_t figures_checked = 0;
  // Those of the recipe documents first; by document, then line, then column.
  std::vector<AuditFinding> findings;
  std::vector<UncheckedFigure> unchecked;  // in the same order
};

// The place of a figure, shared by all figures of a row.
struct FigurePlace {
  std::string document;
  std::string release;
  std::int64_t line = 0;
  std::int64_t column = 0;
  std::string row;
};

struct Slip {
  std::string name;
  std::string explanation;
};

// Whole from a million on, else with up to seven significant digits.
std::string figure_text(double value);

// What the ratio of a printed to a recomputed figure tells by itself: halved, doubled, a power of
// ten. Nothing where it tells nothing.
std::optional<Slip> slip_of_ratio(double ratio);

class AuditLedger {
 public:
  void count() { ++audit_.figures_checked; }
  void add_unchecked(const FigurePlace& place, const std::string& quantity,
                     const std::string& reason);
  // `difference` decides the severity; without it the finding is an error in kind.
  void add(const FigurePlace& place, const std::string& quantity, const std::string& printed,
           std::optional<double> printed_value, std::optional<double> recomputed, const Slip& slip);
  Audit take();  // sorted

 private:
  Audit audit_;
};

}  // namespace llmb::parser
