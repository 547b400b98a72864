#include <fmt/format.h>

#include <cmath>

#include "parser/catalog/audit_checks.h"
#include "parser/catalog/printed_elsewhere.h"
#include "parser/catalog/rate_spread.h"

namespace llmb::parser {
namespace {

constexpr double kFlopPerLoggedTflop = 1e12;

std::string percent_of(double fraction, int digits) {
  return fmt::format("{:.{}f} %", 100 * fraction, digits);
}

class SampleCheck {
 public:
  SampleCheck(const Catalog& catalog, const SampleOutput& sample, AuditLedger& ledger)
      : catalog_(catalog),
        sample_(sample),
        document_(*catalog.document(sample.document)),
        recipe_(catalog.recipe_of(sample)),
        ledger_(ledger) {
    place_ = {sample.document, document_.release, sample.line, 0, sample.text};
  }

  void run() {
    check_consumed_samples();
    if (recipe_ == nullptr) return;
    check_layout();
    if (!sample_.step_time_s) return;
    check_step_time();
    if (sample_.step_time_s_std && document_.default_window) {
      spread_ = rate_spread(time_deviation(), document_.default_window->size());
    }
    if (sample_.tflops_per_gpu) check_rate();
    if (sample_.tflops_per_gpu && sample_.tflops_per_gpu_std && spread_) check_spread();
  }

 private:
  void add(const std::string& quantity, const PrintedNumber& printed,
           std::optional<double> recomputed, const Slip& slip) {
    ledger_.add(place_, quantity, printed.text, printed.value, recomputed, slip);
  }

  Interval time_deviation() const {
    return Interval::of(*sample_.step_time_s_std) / Interval::of(*sample_.step_time_s);
  }

  // Of the line itself where it prints the batch; else some row's.
  void check_consumed_samples() {
    if (!sample_.consumed_samples || !sample_.step_count) return;
    ledger_.count();
    const auto steps = static_cast<double>(*sample_.step_count);
    const double batch = sample_.consumed_samples->value / steps;
    if (sample_.global_batch_size) {
      const auto printed = static_cast<double>(*sample_.global_batch_size);
      if (batch == printed) return;
      add("consumed_samples", *sample_.consumed_samples, printed * steps,
          {"batch", fmt::format("{} steps of {} sequences consume another number.",
                                *sample_.step_count, *sample_.global_batch_size)});
      return;
    }
    if (has_batch(catalog_, sample_.document, batch)) return;
    add("consumed_samples", *sample_.consumed_samples, {},
        {"no_such_batch",
         fmt::format("It is {} sequences a step, and the rows of the document have "
                     "batches of {}.",
                     figure_text(batch), batches_text(catalog_, sample_.document))});
  }

  void check_layout() {
    compare("tensor_parallel", sample_.tensor_parallel, recipe_->tensor_parallel);
    compare("pipeline_parallel", sample_.pipeline_parallel, recipe_->pipeline_parallel);
    compare("context_parallel", sample_.context_parallel, recipe_->context_parallel);
    // An EP of 1 is a model without experts.
    compare("expert_parallel", sample_.expert_parallel, recipe_->expert_parallel.value_or(1));
    compare("expert_tensor_parallel", sample_.expert_tensor_parallel,
            recipe_->expert_tensor_parallel);
    compare("virtual_pipeline", sample_.virtual_pipeline, recipe_->virtual_pipeline);
    compare("micro_batch_size", sample_.micro_batch_size, recipe_->micro_batch_size);
    compare("global_batch_size", sample_.global_batch_size,
            recipe_->global_batch_size.value(*sample_.gpu_count));
  }

  void compare(const std::string& quantity, std::optional<std::int64_t> ran,
               std::optional<std::int64_t> stated) {
    if (!ran) return;
    ledger_.count();
    // With a PP of 1 it is the row that is wrong, and found to be.
    const bool is_row_wrong = quantity == "virtual_pipeline" && recipe_->pipeline_parallel == 1;
    if (ran == stated || is_row_wrong) return;
    const auto number = [](std::optional<std::int64_t> value) {
      return value ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
    };
    ledger_.add(place_, quantity, std::to_string(*ran), number(ran), number(stated),
                {"other_layout",
                 fmt::format("The row of this configuration (line {}) has {}: the sample is not of "
                             "the layout that the document states.",
                             recipe_->line, stated ? std::to_string(*stated) : "none")});
  }

  void check_step_time() {
    const Reference* const column = column_of(catalog_, sample_);
    if (column == nullptr || !column->step_time_s) return;
    ledger_.count();
    const PrintedNumber& printed = *sample_.step_time_s;
    if (Interval::of(*column->step_time_s).explains(printed)) return;
    add("step_time_s", printed, column->step_time_s->value,
        {"not_of_the_table", place_of(*column) + " has " + column->step_time_s->text +
                                 " s for this configuration: the sample is of another run."});
  }

  // The row's: a document may have rows of another workload than its own, and only a row's model
  // is sure to be there.
  const Workload& workload() const { return *catalog_.workload(recipe_->workload); }

  // TFLOPS a GPU that the line's own step time gives.
  Interval rate_by(FlopsFormula formula, std::optional<std::int64_t> vocabulary_size) const {
    ModelShape shape = catalog_.model(workload().family, recipe_->model_size)->shape;
    shape.sequence_length = recipe_->sequence_length;
    shape.layer_count = recipe_->layer_count;
    shape.vocabulary_size = vocabulary_size.value_or(shape.vocabulary_size);
    // recipe_of() takes no row at a scale that leaves it no batch.
    const auto batch = static_cast<double>(*recipe_->global_batch_size.value(*sample_.gpu_count));
    const double flops = batch * model_flops_per_sequence(shape, formula).total() /
                         static_cast<double>(*sample_.gpu_count) / kFlopPerLoggedTflop;
    Interval rate = Interval::exact(flops) / Interval::of(*sample_.step_time_s);
    if (spread_) rate.high *= spread_->mean_factor;
    return rate;
  }

  void check_rate() {
    ledger_.count();
    const PrintedNumber& printed = *sample_.tflops_per_gpu;
    const FlopsFormula formula = document_.flops_formula.value_or(workload().flops_formula);
    const Interval rate = rate_by(formula, {});
    if (rate.explains(printed)) return;
    const double ratio = printed.value / rate.value;
    std::string text =
        document_.flops_formula
            ? "By the document's own model FLOPs"
            : "The document states no model FLOPs; by those of the other documents' formula";
    text += fmt::format(" the line's step time gives {:.2f}. ", rate.value);
    const bool is_known = sample_.logged_flops && rate_by(sample_.logged_flops->flops_formula,
                                                          sample_.logged_flops->vocabulary_size)
                                                      .explains(printed);
    text += is_known ? logged_text()
                     : fmt::format("It belongs to a step time of {:.3f} s. ",
                                   sample_.step_time_s->value / ratio);
    text += document_.flops_formula ? "An MFU made of it is" : "The document makes its MFU of it:";
    text += fmt::format(
        " {} {} than {}.", percent_of(std::abs(ratio - 1), 1), ratio > 1 ? "higher" : "lower",
        document_.flops_formula ? "by the formula of its tables" : "one by the step time");
    add("tflops_per_gpu", printed, rate.value,
        {is_known ? "other_flops_formula" : "unexplained", std::move(text)});
  }

  std::string logged_text() const {
    const LoggedFlops& logged = *sample_.logged_flops;
    const bool is_full = logged.flops_formula == FlopsFormula::recipe_full_attention;
    return fmt::format("It follows by the formula {}{} with a vocabulary of {}: {}. ",
                       flops_formula_name(logged.flops_formula),
                       is_full ? " (attention in full, not half of it)" : "",
                       logged.vocabulary_size, logged.source);
  }

  // Each rate is one constant over its step's time: the times' spread bounds theirs.
  void check_spread() {
    ledger_.count();
    const PrintedNumber& printed = *sample_.tflops_per_gpu_std;
    const Interval mean = Interval::of(*sample_.tflops_per_gpu);
    const Interval expected = mean * spread_->deviation;
    if (expected.explains(printed)) return;
    add("tflops_per_gpu_std", printed, expected.value,
        {"other_steps",
         fmt::format("Rates that are one constant over step times with a deviation of {} deviate "
                     "by {} to {}, and not by {}: the two means are not of the same {} steps.",
                     percent_of(time_deviation().value, 2), percent_of(spread_->deviation.low, 2),
                     percent_of(spread_->deviation.high, 2),
                     percent_of(printed.value / mean.value, 2), document_.default_window->size())});
  }

  const Catalog& catalog_;
  const SampleOutput& sample_;
  const Document& document_;
  const Recipe* recipe_;
  AuditLedger& ledger_;
  FigurePlace place_;
  std::optional<RateSpread> spread_;  // of the rates over the document's window
};

}  // namespace

void audit_sample_output(const Catalog& catalog, const SampleOutput& sample, AuditLedger& ledger) {
  SampleCheck(catalog, sample, ledger).run();
}

}  // namespace llmb::parser
