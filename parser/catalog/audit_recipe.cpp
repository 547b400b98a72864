#include <fmt/format.h>

#include <algorithm>

#include "parser/catalog/audit_checks.h"

namespace llmb::parser {
namespace {

double number_of(std::int64_t value) {
  return static_cast<double>(value);
}

// One row at one scale: a range of scales is checked at both ends.
class RecipeCheck {
 public:
  RecipeCheck(const Catalog& catalog, const Recipe& recipe, std::int64_t gpu_count,
              AuditLedger& ledger)
      : catalog_(catalog), recipe_(recipe), gpu_count_(gpu_count), ledger_(ledger) {
    const Document& document = *catalog.document(recipe.document);
    std::string dtypes;
    for (const std::string& dtype : recipe.dtypes) dtypes += (dtypes.empty() ? "" : "/") + dtype;
    place_ = {recipe.document, document.release, recipe.line, 0,
              fmt::format("{} {} {}, {} {}", recipe.workload, recipe.model_size, dtypes, gpu_count,
                          recipe.gpu_type)};
    replicas_factor_ =
        document.data_parallel_is_beside_experts ? recipe.expert_parallel.value_or(1) : 1;
  }

  void run() {
    const auto data_parallel = recipe_.data_parallel.value(gpu_count_);
    const auto batch = recipe_.global_batch_size.value(gpu_count_);
    if (!data_parallel || !batch) {
      ledger_.count();
      const auto& formula = data_parallel ? recipe_.global_batch_size : recipe_.data_parallel;
      ledger_.add(place_, data_parallel ? "global_batch_size" : "data_parallel", to_string(formula),
                  {}, {},
                  {"scale_not_divisible", "At this scale the formula gives no whole number."});
      return;
    }
    // A batch that follows from a wrong number of replicas says nothing more.
    if (check_gpu_count(*data_parallel * replicas_factor_, *batch)) {
      check_batch(*data_parallel * replicas_factor_, *batch);
    }
    check_pipeline();
  }

 private:
  std::string replicas_name() const { return replicas_factor_ > 1 ? "DP * EP" : "DP"; }

  bool check_gpu_count(std::int64_t replicas, std::int64_t batch) {
    ledger_.count();
    const std::int64_t stages =
        recipe_.tensor_parallel * recipe_.pipeline_parallel * recipe_.context_parallel;
    const std::int64_t product = replicas * stages;
    if (product == gpu_count_) return true;
    std::string text = fmt::format("{} * TP * PP * CP is {}, and not the number of GPUs.",
                                   replicas_name(), product);
    const std::int64_t fitting = gpu_count_ / stages;
    const bool fits_both =
        fitting * stages == gpu_count_ &&
        recipe_.gradient_accumulation * recipe_.micro_batch_size * fitting == batch;
    if (fits_both) {
      text +=
          fmt::format(" {} for {} fits the GPUs and the GBS: the value of another row was kept.",
                      fitting, replicas_name());
    }
    ledger_.add(place_, "gpu_count", std::to_string(gpu_count_), number_of(gpu_count_),
                number_of(product), {"layout", std::move(text)});
    return false;
  }

  void check_batch(std::int64_t replicas, std::int64_t batch) {
    ledger_.count();
    const std::int64_t product =
        recipe_.gradient_accumulation * recipe_.micro_batch_size * replicas;
    if (product == batch) return;
    const double accumulation = number_of(batch) / number_of(recipe_.micro_batch_size * replicas);
    std::string text =
        fmt::format("GA * MBS * {} is {} and not the GBS of {}: ", replicas_name(), product, batch);
    if (accumulation < 1) {
      text += fmt::format("the MBS of {} is too large.", recipe_.micro_batch_size);
    } else {
      const std::string printed = std::to_string(recipe_.gradient_accumulation);
      text += is_of_larger_scale() ? "the GA of " + printed + " is that of the larger scales, and "
                                   : "not a GA of " + printed + ", but one of ";
      text += figure_text(accumulation) + " would fit.";
    }
    ledger_.add(place_, "gradient_accumulation", std::to_string(recipe_.gradient_accumulation),
                number_of(recipe_.gradient_accumulation), accumulation, {"batch", std::move(text)});
  }

  bool is_of_larger_scale() const {
    return std::any_of(catalog_.recipes.begin(), catalog_.recipes.end(), [&](const Recipe& other) {
      return other.document == recipe_.document && other.model_size == recipe_.model_size &&
             other.gpu_type == recipe_.gpu_type && other.gpu_count_min > gpu_count_ &&
             other.gradient_accumulation == recipe_.gradient_accumulation;
    });
  }

  // Interleaving splits the layers of a pipeline's stages; one stage has nothing to interleave.
  // Embedding and loss may count as a layer each: Llama 3.1 405B has 126 for that reason.
  void check_pipeline() {
    if (recipe_.virtual_pipeline_run) {
      ledger_.count();
      const std::string table =
          recipe_.virtual_pipeline ? std::to_string(*recipe_.virtual_pipeline) : "NA";
      ledger_.add(place_, "virtual_pipeline", table, {}, number_of(*recipe_.virtual_pipeline_run),
                  {"table_against_recipe",
                   fmt::format("The table states VP {}, and the recipe runs VP {}: {}.", table,
                               *recipe_.virtual_pipeline_run, recipe_.virtual_pipeline_source)});
    }
    if (!recipe_.virtual_pipeline) return;
    ledger_.count();
    const std::int64_t virtual_stages = *recipe_.virtual_pipeline * recipe_.pipeline_parallel;
    const std::string printed = std::to_string(*recipe_.virtual_pipeline);
    if (recipe_.pipeline_parallel == 1 && *recipe_.virtual_pipeline > 1) {
      ledger_.add(place_, "virtual_pipeline", printed, number_of(*recipe_.virtual_pipeline), 1.0,
                  {"pipeline_without_stages",
                   "VP is " + printed +
                       " with a PP of 1: there is no pipeline to interleave, and "
                       "the value looks copied from a table that has one." +
                       sample_text()});
    } else if (recipe_.layer_count % virtual_stages != 0 &&
               (recipe_.layer_count + 2) % virtual_stages != 0) {
      ledger_.add(place_, "virtual_pipeline", printed, {}, {},
                  {"layers_not_divisible", fmt::format("{} layers cannot be split into {} stages.",
                                                       recipe_.layer_count, virtual_stages)});
    }
  }

  // What the document's own program ran, as its sample output says.
  std::string sample_text() const {
    for (const SampleOutput& sample : catalog_.sample_outputs) {
      if (catalog_.recipe_of(sample) == &recipe_ && sample.virtual_pipeline &&
          sample.virtual_pipeline != recipe_.virtual_pipeline) {
        return fmt::format(" The sample output of line {} ran with {}.", sample.line,
                           *sample.virtual_pipeline);
      }
    }
    return {};
  }

  const Catalog& catalog_;
  const Recipe& recipe_;
  const std::int64_t gpu_count_;
  AuditLedger& ledger_;
  FigurePlace place_;
  std::int64_t replicas_factor_ = 1;
};

}  // namespace

void audit_recipe(const Catalog& catalog, const Recipe& recipe, AuditLedger& ledger) {
  RecipeCheck(catalog, recipe, recipe.gpu_count_min, ledger).run();
  if (recipe.gpu_count_max > recipe.gpu_count_min) {
    RecipeCheck(catalog, recipe, recipe.gpu_count_max, ledger).run();
  }
}

}  // namespace llmb::parser
