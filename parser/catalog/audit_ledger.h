// AuditLedger: where the checks of an audit write what they find.
#pragma once

#include <cstdint>
#include <string>

#include "parser/catalog/arithmetic.h"
#include "parser/catalog/audit.h"

namespace llmb::parser {

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
