#include <algorithm>
#include <cctype>
#include <cmath>

#include "parser/catalog/audit_checks.h"

namespace llmb::parser {
namespace {

std::string digits_of(const std::string& text) {
  std::string digits;
  for (const char c : text) {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) digits += c;
  }
  return digits;
}

std::string without_marks(std::string expression) {
  std::erase(expression, '~');
  return expression;
}

// One digit of a long figure typed wrong.
bool differs_in_one_digit(const std::string& printed, double recomputed) {
  const std::string a = digits_of(printed);
  const std::string b = figure_text(recomputed);
  if (a.size() < 6 || a.size() != b.size()) return false;
  int differing = 0;
  for (std::size_t i = 0; i < a.size(); ++i) differing += a[i] == b[i] ? 0 : 1;
  return differing == 1;
}

class ExampleCheck {
 public:
  ExampleCheck(const Catalog& catalog, const WorkedExample& example, AuditLedger& ledger)
      : catalog_(catalog), example_(example), ledger_(ledger) {
    const Document& document = *catalog.document(example.document);
    place_ = {example.document, document.release, example.line, 0, example.text};
  }

  void run() {
    if (example_.quantity == "window") return check_window();
    const PrintedNumber printed = *parse_printed_number(example_.printed);
    if (example_.quantity == "peak_tflops") return check_peak(printed, printed.value);
    check_arithmetic(printed);
    if (example_.peak_tflops) check_peak(printed, *example_.peak_tflops);
  }

 private:
  void add(std::optional<double> printed, std::optional<double> recomputed, Slip slip) {
    if (!example_.explanation.empty()) slip.explanation = example_.explanation;
    ledger_.add(place_, example_.quantity, example_.printed, printed, recomputed, slip);
  }

  // The document's own window stands in its script and its sample output.
  void check_window() {
    ledger_.count();
    const auto& expected = catalog_.document(example_.document)->default_window;
    if (expected && to_string(*expected) == example_.printed) return;
    add({}, {},
        {"other_window", "The document's own window is " +
                             (expected ? to_string(*expected) : "the last step") + "."});
  }

  void check_arithmetic(const PrintedNumber& printed) {
    ledger_.count();
    const Interval result = *evaluate(example_.expression);
    if (result.explains(printed)) return;
    if (differs_in_one_digit(example_.printed, result.value)) {
      add(printed.value, result.value,
          {"digit_slip", "One digit differs from " + figure_text(result.value) + "."});
      return;
    }
    const auto slip = slip_of_ratio(printed.value / result.value);
    add(printed.value, result.value,
        slip ? *slip
             : Slip{"arithmetic",
                    without_marks(example_.expression) + " is " + figure_text(result.value) + "."});
  }

  // An MFU that used another peak than its dtype's is wrong by the ratio of the two.
  void check_peak(const PrintedNumber& printed, double used_tflops) {
    ledger_.count();
    const GpuPeak* const right =
        catalog_.peak(example_.gpu_type, example_.dtype, example_.document);
    if (right == nullptr) {
      ledger_.add_unchecked(place_, "peak_tflops", "The document states no such peak elsewhere.");
      return;
    }
    if (std::abs(used_tflops / right->tflops - 1) < 1e-9) return;
    const bool is_mfu = example_.quantity == "mfu_percent";
    const double recomputed =
        is_mfu ? evaluate(example_.expression)->value * used_tflops / right->tflops : right->tflops;
    Slip slip = slip_of_used_peak(used_tflops);
    slip.explanation += " The document itself gives " + figure_text(right->tflops) +
                        " TFLOPS for " + example_.gpu_type + " and " + example_.dtype + ".";
    add(printed.value, recomputed, slip);
  }

  Slip slip_of_used_peak(double used_tflops) const {
    for (const GpuType& gpu : catalog_.gpus) {
      for (const GpuPeak& peak : gpu.peaks) {
        if (peak.tflops != used_tflops) continue;
        const bool is_same_gpu = gpu.gpu_type == example_.gpu_type;
        return {is_same_gpu ? "wrong_dtype_peak" : "wrong_gpu_peak",
                "The peak used, " + figure_text(used_tflops) + " TFLOPS, is that of " +
                    gpu.gpu_type + " for " + peak.dtype + "."};
      }
    }
    return {"unit_slip",
            "No GPU has a peak of " + figure_text(used_tflops) + " TFLOPS: a unit slipped."};
  }

  const Catalog& catalog_;
  const WorkedExample& example_;
  AuditLedger& ledger_;
  FigurePlace place_;
};

}  // namespace

void audit_worked_example(const Catalog& catalog, const WorkedExample& example,
                          AuditLedger& ledger) {
  ExampleCheck(catalog, example, ledger).run();
}

}  // namespace llmb::parser
