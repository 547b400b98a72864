#include "parser/catalog/audit_ledger.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <tuple>

namespace llmb::parser {
namespace {

constexpr double kErrorFrom = 0.01;
constexpr double kRatioTolerance = 0.002;

template <typename Entry>
void sort_by_place(std::vector<Entry>& entries) {
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.document, a.line, a.column) < std::tie(b.document, b.line, b.column);
  });
}

bool is_about(double ratio, double expected) {
  return std::abs(ratio / expected - 1) < kRatioTolerance;
}

}  // namespace

std::string_view severity_name(Severity severity) {
  return severity == Severity::error ? "error" : "inexact";
}

std::string figure_text(double value) {
  std::array<char, 64> text{};
  // Counts of operations are compared digit by digit; a double holds them whole up to 2^53.
  const double size = std::abs(value);
  const bool is_count = size < 9e15 && (size >= 1e6 || value == std::round(value));
  const auto written = is_count ? std::to_chars(text.data(), text.data() + text.size(), value,
                                                std::chars_format::fixed, 0)
                                : std::to_chars(text.data(), text.data() + text.size(), value,
                                                std::chars_format::general, 7);
  return {text.data(), written.ptr};
}

std::optional<Slip> slip_of_ratio(double ratio) {
  if (is_about(ratio, 0.5)) return Slip{"halved", "It is half of what its row gives."};
  if (is_about(ratio, 2)) return Slip{"doubled", "It is twice what its row gives."};
  for (const int power : {-9, -6, -3, -2, -1, 1, 2, 3, 6, 9}) {
    const double factor = std::pow(10.0, power);
    if (!is_about(ratio, factor)) continue;
    return Slip{"unit_slip", "It is off by a factor of " +
                                 figure_text(std::pow(10.0, std::abs(power))) +
                                 ": a unit or a decimal point slipped."};
  }
  return std::nullopt;
}

void AuditLedger::add_unchecked(const FigurePlace& place, const std::string& quantity,
                                const std::string& reason) {
  audit_.unchecked.push_back(
      {place.document, place.line, place.column, place.row, quantity, reason});
}

void AuditLedger::add(const FigurePlace& place, const std::string& quantity,
                      const std::string& printed, std::optional<double> printed_value,
                      std::optional<double> recomputed, const Slip& slip) {
  AuditFinding finding;
  finding.document = place.document;
  finding.release = place.release;
  finding.line = place.line;
  finding.column = place.column;
  finding.row = place.row;
  finding.quantity = quantity;
  finding.printed = printed;
  finding.recomputed = recomputed;
  if (printed_value && recomputed) {
    finding.relative_difference = *printed_value / *recomputed - 1;
    if (std::abs(*finding.relative_difference) < kErrorFrom) finding.severity = Severity::inexact;
  }
  finding.slip = slip.name;
  finding.explanation = slip.explanation;
  audit_.findings.push_back(std::move(finding));
}

Audit AuditLedger::take() {
  sort_by_place(audit_.findings);
  sort_by_place(audit_.unchecked);
  return std::move(audit_);
}

}  // namespace llmb::parser
