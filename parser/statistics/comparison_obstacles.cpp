#include "parser/statistics/comparison_obstacles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace llmb::parser {
namespace {

const std::vector<ComparedMetric> kAll(kComparedMetrics.begin(), kComparedMetrics.end());

// As the run says, or as all recipes do that may be its own.
std::optional<std::int64_t> input_of(const ComparedRun& run, std::string_view name) {
  for (const MetricInput& input : run.judgement.metrics.derived.tokens_per_s_per_gpu.inputs) {
    if (input.name == name) return static_cast<std::int64_t>(input.value);
  }
  return std::nullopt;
}

std::string stated(const std::string& value) {
  return value.empty() ? "unknown" : value;
}

std::string stated(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : "unknown";
}

class ObstacleList {
 public:
  // With `assumptions`: what is unknown is taken to be equal, and added there.
  explicit ObstacleList(std::vector<std::string>* assumptions)
      : takes_for_granted_(assumptions != nullptr), assumptions_(assumptions) {}

  void add(std::string code, std::string text, std::vector<ComparedMetric> metrics) {
    list_.push_back({std::move(code), std::move(text), std::move(metrics)});
  }

  void compare_models(const ComparedWork& a, const ComparedWork& b) {
    compare_names("workload", a.workload, b.workload);
    if (list_.empty()) compare_names("model_size", a.model_size, b.model_size);
    const auto& first = a.layer_count;
    const auto& second = b.layer_count;
    if (first && second && *first != *second && list_.empty()) {
      add("different_layer_count",
          fmt::format("The models have {} and {} layers.", *first, *second), kAll);
    }
  }

  void compare_windows(const ComparedWork& a, const ComparedWork& b) {
    if (a.window == b.window) return;
    add("different_window",
        "The windows differ: " + a.window + " and " + b.window + "; ask for one window for all.",
        kAll);
  }

  void compare_work(const ComparedWork& a, const ComparedWork& b) {
    const auto& first = a.global_batch_size;
    const auto& second = b.global_batch_size;
    if (first.has_value() != second.has_value() && takes_for_granted_) {
      assume("global batch size");
    } else if (first != second) {
      add("different_global_batch_size",
          "A step is not the same work: its global batch sizes are " + stated(first) + " and " +
              stated(second) + ". Tokens per second and GPU can be compared.",
          {ComparedMetric::step_time_s});
    }
    const auto& length = a.sequence_length;
    const auto& other_length = b.sequence_length;
    if (length && other_length && *length != *other_length) {
      add("different_sequence_length",
          fmt::format(
              "The sequences have {} and {} tokens: a step, and a token, is not the same work.",
              *length, *other_length),
          {ComparedMetric::step_time_s, ComparedMetric::tokens_per_s_per_gpu});
    }
  }

  // Each program, and each of its versions, has its own formula for the FLOPs of a step.
  void compare_formulas(const ComparedWork& a, const ComparedWork& b) {
    // What programs print of tokens may count others, too.
    if (a.dialect != b.dialect && (a.has_printed_rate || b.has_printed_rate)) {
      add("different_token_count",
          "The programs may count tokens differently, and the rate of one is as its log prints it.",
          {ComparedMetric::tokens_per_s_per_gpu});
    }
    const auto differs = [&](const std::string& what, const std::string& first,
                             const std::string& second) {
      add("different_flops_formula",
          "The " + what + " differ, " + first + " and " + second +
              ", and so may their formulas for the FLOPs of a step: only times can be compared.",
          {ComparedMetric::tflops_per_gpu});
    };
    if (a.dialect != b.dialect) {
      differs("logs' dialects", std::string(dialect_name(a.dialect)),
              std::string(dialect_name(b.dialect)));
      return;
    }
    for (const auto member :
         {&ComparedWork::framework, &ComparedWork::framework_version, &ComparedWork::release}) {
      const auto& first = a.*member;
      const auto& second = b.*member;
      if (!first || !second || *first == *second) continue;
      differs("versions", *first, *second);
      return;
    }
    if (share_version(a, b)) return;
    if (takes_for_granted_) {
      assume(std::string(kFlopsFormulaAssumption));
    } else if (names_version(a) != names_version(b)) {
      add("different_flops_formula",
          "The version of one program is unknown, and its formula for the FLOPs of a step may be "
          "another one: only times can be compared.",
          {ComparedMetric::tflops_per_gpu});
    }
  }

  std::vector<Obstacle> take() { return std::move(list_); }

 private:
  // A framework's name alone is none.
  static constexpr std::array kVersions = {&ComparedWork::framework_version,
                                           &ComparedWork::release};

  static bool share_version(const ComparedWork& a, const ComparedWork& b) {
    return std::ranges::any_of(kVersions, [&](const auto member) {
      return (a.*member).has_value() && a.*member == b.*member;
    });
  }
  static bool names_version(const ComparedWork& work) {
    return std::ranges::any_of(kVersions,
                               [&](const auto member) { return (work.*member).has_value(); });
  }

  void assume(const std::string& what) { assumptions_->push_back(what); }

  void compare_names(const std::string& key, const std::string& first, const std::string& second) {
    const std::string words = key == "workload" ? "workload" : "model size";
    const bool is_known = !first.empty() && !second.empty();
    if (!is_known && takes_for_granted_) {
      assume(words);
    } else if (first != second) {
      add("different_" + key,
          "The " + words + "s differ: " + stated(first) + " and " + stated(second) + ".", kAll);
    } else if (!is_known) {
      add("unknown_workload", "Neither run says which model it trains.", kAll);
    }
  }

  bool takes_for_granted_;
  std::vector<std::string>* assumptions_;
  std::vector<Obstacle> list_;
};

}  // namespace

std::optional<std::int64_t> global_batch_size_of(const ComparedRun& run) {
  const auto& stated = run.judgement.match.global_batch_size;
  return stated ? stated : input_of(run, "global_batch_size");
}

ComparedWork work_of(const ComparedRun& run) {
  const Recipe* const recipe = run.judgement.match.recipe;
  const Metric& rate = run.judgement.metrics.derived.tokens_per_s_per_gpu;
  RunIdentity identity = identity_of(run);
  return {.workload = std::move(identity.workload),
          .model_size = std::move(identity.model_size),
          .layer_count = recipe == nullptr ? std::nullopt : std::optional(recipe->layer_count),
          .window = to_string(run.judgement.summary.window),
          .global_batch_size = global_batch_size_of(run),
          .sequence_length = input_of(run, "sequence_length"),
          .has_printed_rate = rate.formula == kPrintedRateFormula,
          .dialect = run.dialect,
          .framework = run.configuration.value("framework"),
          .framework_version = run.configuration.value("framework_version"),
          .release = run.configuration.value("release")};
}

std::vector<Obstacle> obstacles_between(const ComparedWork& baseline, const ComparedWork& other,
                                        std::vector<std::string>* assumptions) {
  ObstacleList list(assumptions);
  list.compare_models(baseline, other);
  list.compare_windows(baseline, other);
  list.compare_work(baseline, other);
  list.compare_formulas(baseline, other);
  return list.take();
}

std::vector<Obstacle> obstacles_between(const ComparedRun& baseline, const ComparedRun& other,
                                        std::vector<std::string>* assumptions) {
  return obstacles_between(work_of(baseline), work_of(other), assumptions);
}

}  // namespace llmb::parser
