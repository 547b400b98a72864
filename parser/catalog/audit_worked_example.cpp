#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "parser/catalog/audit_checks.h"
#include "parser/catalog/printed_elsewhere.h"

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
    if (example_.quantity == "global_batch_size") return check_batch(printed);
    if (!example_.expression.empty()) check_arithmetic(printed);
    if (example_.peak_tflops) check_peak(printed, *example_.peak_tflops);
    check_elsewhere(printed);
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

  // A batch that no row has is that of another document.
  void check_batch(const PrintedNumber& printed) {
    ledger_.count();
    if (has_batch(catalog_, example_.document, printed.value)) return;
    ledger_.add(
        place_, example_.quantity, example_.printed, printed.value, {},
        {"no_such_batch",
         fmt::format("No row of the document has a batch of {} sequences; its rows have {}: "
                     "the example is not of its configurations, and what it computes says "
                     "nothing of its results.",
                     example_.printed, batches_text(catalog_, example_.document))});
  }

  // An example of a configuration that has a result is expected to be of that result.
  void check_elsewhere(const PrintedNumber& printed) {
    const PrintedElsewhere elsewhere = printed_elsewhere(catalog_, example_);
    if (elsewhere.figure == nullptr) return;
    ledger_.count();
    if (Interval::of(*elsewhere.figure).explains(printed)) return;
    const WorkedExample* const step_time = step_time_of_example();
    Slip slip{"not_of_the_table", elsewhere.place + " has " + elsewhere.text};
    if (example_.quantity == "step_time_s") {
      slip.explanation += " s for this configuration: the example is of " + other_run() + ".";
    } else if (step_time != nullptr) {
      slip.name = "follows_step_time";
      slip.explanation += " for this configuration: this one is made of the example's step time, " +
                          step_time->printed + " s.";
    } else {
      slip.explanation += " for this configuration.";
    }
    ledger_.add(place_, example_.quantity, example_.printed, printed.value, elsewhere.figure->value,
                slip);
  }

  std::string other_run() const {
    const SampleOutput* const sample = sample_of(catalog_, example_);
    const bool is_sample =
        sample != nullptr && sample->step_time_s && sample->step_time_s->text == example_.printed;
    return is_sample ? fmt::format("the run of its sample output (line {})", sample->line)
                     : "another run, and its results with it";
  }

  // That of this document and configuration; null where it states none.
  const WorkedExample* step_time_of_example() const {
    for (const WorkedExample& other : catalog_.worked_examples) {
      const bool is_step_time = other.quantity == "step_time_s";
      if (is_step_time && are_of_one_configuration(other, example_)) return &other;
    }
    return nullptr;
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
