#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "parser/catalog/audit_checks.h"
#include "parser/catalog/proxy_size.h"

namespace llmb::parser {
namespace {

constexpr double kSecondsPerPublishedDay = 86'400;
constexpr double kTokens = 1e12;
constexpr double kFlopPerPublishedTflop = 1e12;

Interval exact(double value) {
  return Interval::exact(value);
}
Interval exact(std::int64_t value) {
  return Interval::exact(static_cast<double>(value));
}

// The documents use their model FLOPs as they print them, with three digits.
Interval printed_with_three_digits(double value) {
  const double digit = std::pow(10.0, std::floor(std::log10(value)) - 2);
  const double rounded = std::round(value / digit) * digit;
  return {std::min(value, rounded), value, std::max(value, rounded)};
}

// The column of a results table, with the configuration row it was measured with.
class ReferenceCheck {
 public:
  ReferenceCheck(const Catalog& catalog, const Reference& reference, AuditLedger& ledger)
      : catalog_(catalog), reference_(reference), ledger_(ledger) {
    place_ = {reference.document.empty() ? reference.source : reference.document, reference.release,
              reference.line, reference.column,
              fmt::format("{} {} {}, {} {}", reference.workload, reference.model_size,
                          reference.dtype, reference.gpu_count, reference.gpu_type)};
    const Recipe* const recipe = catalog.recipe_of(reference);
    sequence_length_ = reference.sequence_length;
    batch_ = reference.global_batch_size;
    layer_count_ = reference.layer_count;
    if (recipe == nullptr) return;
    sequence_length_ = recipe->sequence_length;
    batch_ = recipe->global_batch_size.value(reference.gpu_count);
    layer_count_ = recipe->layer_count;
    is_proxy_ = recipe->is_proxy;
  }

  void run() {
    if (!reference_.step_time_s) return refuse_all("The column prints no step time.");
    if (!sequence_length_ || !batch_) {
      return refuse_all("No configuration row says its sequence length and batch.");
    }
    step_time_s_ = Interval::of(*reference_.step_time_s);
    tokens_per_s_ = exact(*sequence_length_) * exact(*batch_) / step_time_s_;
    if (reference_.tokens_per_s) check_tokens();
    if (reference_.mfu_percent) check_mfu(*reference_.mfu_percent, own_formula());
    if (reference_.days_to_train_1t) check_days();
  }

  void run_restated(const RestatedMfu& restated) {
    place_.document = restated.source;
    place_.release = restated.release;
    place_.line = 0;
    place_.column = 0;
    if (!reference_.step_time_s || !sequence_length_ || !batch_) {
      ledger_.add_unchecked(place_, "mfu_percent",
                            "No step time with its configuration row goes with it.");
      return;
    }
    step_time_s_ = Interval::of(*reference_.step_time_s);
    check_mfu(restated.mfu_percent, formula_of(restated.release));
  }

 private:
  void refuse_all(const std::string& reason) {
    if (reference_.tokens_per_s) ledger_.add_unchecked(place_, "tokens_per_s", reason);
    if (reference_.mfu_percent) ledger_.add_unchecked(place_, "mfu_percent", reason);
    if (reference_.days_to_train_1t) ledger_.add_unchecked(place_, "days_to_train_1t", reason);
  }

  void add(const std::string& quantity, const PrintedNumber& printed, double recomputed,
           const Slip& slip) {
    ledger_.add(place_, quantity, printed.text, printed.value, recomputed, slip);
  }

  // A ratio that tells nothing: a step time other than the printed one would explain the figure.
  Slip other_step_time(const PrintedNumber& printed, double recomputed, bool grows_with_time) {
    const double ratio = printed.value / recomputed;
    const double implied =
        grows_with_time ? step_time_s_.value * ratio : step_time_s_.value / ratio;
    const std::string seconds = figure_text(std::round(implied * 1e5) / 1e5);
    return {std::abs(ratio - 1) < 0.01 ? "other_step_time" : "unexplained",
            "It belongs to a step time of " + seconds + " s; its own row prints " +
                reference_.step_time_s->text + " s."};
  }

  void check_tokens() {
    ledger_.count();
    const PrintedNumber& printed = *reference_.tokens_per_s;
    if (tokens_per_s_.explains(printed)) return;
    auto slip = slip_of_ratio(printed.value / tokens_per_s_.value);
    if (slip && slip->name == "halved") {
      slip->explanation = fmt::format(
          "It is half of what the row's step time and its batch of {} give: it looks computed with "
          "the batch of half the scale.",
          *batch_);
    }
    add("tokens_per_s", printed, tokens_per_s_.value,
        slip ? *slip : other_step_time(printed, tokens_per_s_.value, false));
  }

  void check_days() {
    ledger_.count();
    const PrintedNumber& printed = *reference_.days_to_train_1t;
    if (is_proxy_) {
      add("days_to_train_1t", printed, printed.value,
          {"proxy_days", "A proxy configuration's speed gives no time to train the model."});
      return;
    }
    const Interval days = exact(kTokens) / tokens_per_s_ / exact(kSecondsPerPublishedDay);
    if (days.explains(printed)) return;
    if (reference_.tokens_per_s) {
      const Interval own = Interval::of(*reference_.tokens_per_s);
      if ((exact(kTokens) / own / exact(kSecondsPerPublishedDay)).explains(printed)) {
        add("days_to_train_1t", printed, days.value,
            {"follows_throughput", "It follows from the printed throughput of " +
                                       reference_.tokens_per_s->text +
                                       " tokens/s, which does not follow from the step time."});
        return;
      }
    }
    const auto slip = slip_of_ratio(printed.value / days.value);
    add("days_to_train_1t", printed, days.value,
        slip ? *slip : other_step_time(printed, days.value, true));
  }

  // How the README counts that the figure stands in.
  struct Counting {
    FlopsFormula formula;
    std::optional<std::int64_t> query_group_count;
  };

  std::optional<Counting> formula_of(const std::string& release) const {
    const ReleaseFlops* const rule =
        catalog_.flops_of_release(reference_.workload, model_size(), release);
    if (rule == nullptr) return std::nullopt;
    return Counting{rule->flops_formula, rule->query_group_count};
  }

  std::optional<Counting> own_formula() const {
    if (reference_.document.empty()) return formula_of(reference_.release);
    const auto stated = catalog_.document(reference_.document)->flops_formula;
    if (!stated) return std::nullopt;
    return Counting{*stated, {}};
  }

  // A proxy is its model with fewer layers.
  std::string model_size() const { return std::string(size_without_proxy(reference_.model_size)); }

  void check_mfu(const PrintedNumber& printed, const std::optional<Counting>& counting) {
    const auto refuse = [&](const std::string& reason) {
      ledger_.add_unchecked(place_, "mfu_percent", reason);
    };
    const std::string& family = catalog_.workload(reference_.workload)->family;
    const Model* const model = catalog_.model(family, model_size());
    if (model == nullptr)
      return refuse("The catalog has no model " + family + " " + reference_.model_size + ".");
    if (model_size() != reference_.model_size && !layer_count_) {
      return refuse("Nothing says how many layers the proxy has.");
    }
    if (!counting) {
      return refuse("The catalog does not know how " + reference_.workload + " of release " +
                    place_.release + " counts model FLOPs.");
    }
    const GpuPeak* const peak =
        catalog_.peak(reference_.gpu_type, coarse_dtype(reference_.dtype), reference_.document);
    if (peak == nullptr) return refuse("No document states the peak of this GPU and dtype.");
    ModelShape shape = model->shape;
    shape.sequence_length = *sequence_length_;
    shape.layer_count = layer_count_.value_or(shape.layer_count);
    shape.query_group_count = counting->query_group_count.value_or(shape.query_group_count);
    const Interval flops =
        printed_with_three_digits(model_flops_per_sequence(shape, counting->formula).total());
    const Interval rate = exact(*batch_) * flops / step_time_s_ / exact(reference_.gpu_count);
    compare_mfu(printed, rate, *peak);
  }

  void compare_mfu(const PrintedNumber& printed, const Interval& flop_per_s, const GpuPeak& peak) {
    ledger_.count();
    const auto percent_of = [&](double tflops) {
      return flop_per_s / exact(tflops * kFlopPerPublishedTflop) * exact(100.0);
    };
    const Interval mfu = percent_of(peak.tflops);
    if (mfu.explains(printed)) return;
    for (const GpuType& gpu : catalog_.gpus) {
      for (const GpuPeak& other : gpu.peaks) {
        if (!percent_of(other.tflops).explains(printed)) continue;
        const bool is_same_gpu = gpu.gpu_type == reference_.gpu_type;
        add("mfu_percent", printed, mfu.value,
            {is_same_gpu ? "wrong_dtype_peak" : "wrong_gpu_peak",
             "It is computed against " + figure_text(other.tflops) + " TFLOPS, the peak of " +
                 gpu.gpu_type + " for " + other.dtype + ", and not against the " +
                 figure_text(peak.tflops) + " TFLOPS of " + reference_.gpu_type + " for " +
                 peak.dtype + "."});
        return;
      }
    }
    const auto slip = slip_of_ratio(printed.value / mfu.value);
    add("mfu_percent", printed, mfu.value,
        slip ? *slip : other_step_time(printed, mfu.value, false));
  }

  const Catalog& catalog_;
  const Reference& reference_;
  AuditLedger& ledger_;
  FigurePlace place_;
  std::optional<std::int64_t> sequence_length_;
  std::optional<std::int64_t> batch_;
  std::optional<std::int64_t> layer_count_;
  bool is_proxy_ = false;
  Interval step_time_s_;
  Interval tokens_per_s_;
};

}  // namespace

void audit_reference(const Catalog& catalog, const Reference& reference, AuditLedger& ledger) {
  ReferenceCheck(catalog, reference, ledger).run();
}

void audit_restated_mfu(const Catalog& catalog, const Reference& reference,
                        const RestatedMfu& restated, AuditLedger& ledger) {
  ReferenceCheck(catalog, reference, ledger).run_restated(restated);
}

}  // namespace llmb::parser
