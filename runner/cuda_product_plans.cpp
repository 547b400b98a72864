#include "runner/cuda_product_plans.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "runner/checkpoint/durable_file.h"
#include "runner/cuda/device_error.h"
#include "runner/cuda/expert_tuning.h"
#include "runner/cuda/gemm_tuning.h"
#include "runner/cuda/stream.h"
#include "runner/plan/ceiling_shapes.h"

namespace llmb::runner {
namespace {

namespace fs = std::filesystem;

using Clock = std::chrono::steady_clock;

// Which way experts are multiplied, by expert_key: as --expert-products names it.
using ExpertWays = std::map<std::string, std::string>;

constexpr const char* kExpertWays = "experts";  // in the file, beside the algorithms

std::string_view name_of(ExpertCounts counts) {
  return counts == ExpertCounts::on_device ? "device" : "library";
}

const char* words_of(ExpertCounts counts) {
  return counts == ExpertCounts::on_device ? "by one launch" : "an expert at a time by the library";
}

// What is no such file has none.
ExpertWays expert_ways(const std::string& json) {
  const nlohmann::json file = nlohmann::json::parse(json, nullptr, false);
  ExpertWays ways;
  if (!file.is_object() || !file.contains(kExpertWays)) return ways;
  for (const auto& [key, way] : file[kExpertWays].items()) {
    if (way.is_string()) ways.emplace(key, way.get<std::string>());
  }
  return ways;
}

std::string with_expert_ways(const std::string& json, const ExpertWays& ways) {
  if (ways.empty()) return json;
  nlohmann::json file = nlohmann::json::parse(json);
  file[kExpertWays] = ways;
  return file.dump(1) + "\n";
}

std::optional<ExpertCounts> way_of(const ExpertWays& ways, const std::string& key) {
  const auto known = ways.find(key);
  if (known == ways.end()) return std::nullopt;
  for (const ExpertCounts counts : {ExpertCounts::on_device, ExpertCounts::on_host}) {
    if (known->second == name_of(counts)) return counts;
  }
  return std::nullopt;
}

// A file's plans, where they are of this place.
struct KeptPlans {
  std::string why_not;  // why they are not taken; empty where they are, or where there is no file
  ExpertWays experts;
};

KeptPlans pin(cuda::GemmEngine& engine, const fs::path& path) {
  std::error_code none;
  if (path.empty() || !fs::exists(path, none)) return {};
  std::ifstream file(path, std::ios::binary);
  const std::string json{std::istreambuf_iterator<char>(file), {}};
  if (!file) return {"it cannot be read", {}};
  try {
    std::string why_not = engine.pin_plans(json);
    if (!why_not.empty()) return {std::move(why_not), {}};
    return {"", expert_ways(json)};
  } catch (const std::invalid_argument& error) {
    return {error.what(), {}};
  }
}

// Adds the quicker way of this run's experts, unless it is known or was asked for. True where it
// was timed.
bool time_ways(const Options& options, const RunSettings& settings, cuda::Stream stream,
               Clock::time_point until, ExpertWays& ways, LogSink& log) {
  const std::vector<LinearShape> experts = lone_expert_shapes(settings);
  if (experts.empty() || options.expert_counts) return false;
  const cuda::ProductNumbers numbers = product_numbers(settings.precision);
  const std::string key = cuda::expert_key(experts, numbers);
  if (const auto known = way_of(ways, key)) {
    log.write(
        fmt::format("llmb-step-runner: experts are multiplied {}, as the file of plans has "
                    "it\n",
                    words_of(*known)));
    return false;
  }
  if (options.tune_seconds == 0) return false;
  try {
    constexpr double kMilli = 1e3;
    const auto times = cuda::time_experts(experts, numbers, stream, until);
    if (!times) {
      log.write(fmt::format(
          "llmb-step-runner: a layer's experts were not timed to the end, --tune-seconds {:g} were "
          "over: they are multiplied {}, by how many rows they get\n",
          options.tune_seconds, words_of(settings.expert_counts)));
      return false;
    }
    const ExpertCounts quicker =
        times->one_launch_s <= times->library_s ? ExpertCounts::on_device : ExpertCounts::on_host;
    ways[key] = name_of(quicker);
    log.write(fmt::format(
        "llmb-step-runner: a layer's {} take {:.3f} ms by one launch a product, {:.3f} ms an "
        "expert at a time by the library, {:.3f} ms of them the wait for the counts: they are "
        "multiplied {}\n",
        key.substr(0, key.find(':')), times->one_launch_s * kMilli, times->library_s * kMilli,
        times->wait_s * kMilli, words_of(quicker)));
    return true;
  } catch (const cuda::OutOfDeviceMemory&) {
    log.write(fmt::format(
        "llmb-step-runner: a layer's experts were not timed, their operands do not fit the "
        "device's free memory: they are multiplied {}, by how many rows they get\n",
        words_of(settings.expert_counts)));
    return false;
  }
}

// What does not work is told, and does not end the run.
void keep(const std::string& json, const fs::path& path, bool is_other_there, LogSink& log) {
  try {
    const fs::path written = path.string() + fmt::format(".{}", getpid());
    if (is_other_there) rename_durably(path, path.string() + ".old");
    write_durably(written, {std::as_bytes(std::span(json))});
    rename_durably(written, path);
  } catch (const CheckpointError& error) {
    log.write(
        fmt::format("llmb-step-runner: the plans of matrix products are not kept: {}; another "
                    "--product-plans may help\n",
                    error.what()));
  }
}

std::string choose_plans(const Options& options, const RunSettings& settings, LogSink& log) {
  const std::string& asked = options.product_plans_path;
  const fs::path path = asked.empty() ? fs::path() : fs::absolute(asked);
  const cuda::OwnedStream stream;
  cuda::GemmEngine engine;
  KeptPlans kept = pin(engine, path);
  const std::string& why_not = kept.why_not;
  if (!why_not.empty()) {
    log.write(fmt::format(
        "llmb-step-runner: the plans of matrix products in '{}' are not taken: {}; {}\n",
        path.string(), why_not,
        options.tune_seconds > 0
            ? "they are tuned anew, and the file is kept as '" + path.filename().string() + ".old'"
            : "the library's suggestions serve in their place"));
  } else if (engine.plan_count() > 0) {
    log.write(fmt::format("llmb-step-runner: {} plans of matrix products are those of '{}'\n",
                          engine.plan_count(), path.string()));
  }
  constexpr double kDayS = 86'400;  // nobody waits for longer, and clocks reach no further
  const auto until =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(std::min(options.tune_seconds, kDayS)));
  const bool has_timed = time_ways(options, settings, stream, until, kept.experts, log);
  const auto plans = [&] { return with_expert_ways(engine.plans_as_json(), kept.experts); };
  if (options.tune_seconds > 0) {
    const double left_s = std::chrono::duration<double>(until - Clock::now()).count();
    const cuda::TuningResult result = tune_products(
        engine,
        cuda::products_of(fixed_linear_shapes(settings), product_numbers(settings.precision)),
        left_s, stream);
    log.write("llmb-step-runner: " + tuning_text(result) + "\n");
    if ((result.tuned > 0 || has_timed) && !path.empty()) {
      keep(plans(), path, !why_not.empty(), log);
    }
  }
  return engine.plan_count() > 0 || !kept.experts.empty() ? plans() : "";
}

}  // namespace

cuda::ProductNumbers product_numbers(Precision precision) {
  if (precision == Precision::fp32) return cuda::ProductNumbers::fp32;
  if (precision == Precision::mxfp8) return cuda::ProductNumbers::mxfp8;
  return is_fp8(precision) ? cuda::ProductNumbers::fp8 : cuda::ProductNumbers::bf16;
}

ProductPlans agree_on_product_plans(World& world, const Options& options,
                                    const RunSettings& settings, LogSink& log) {
  ProductPlans agreed{"", settings.expert_counts};
  if (options.tune_seconds == 0 && options.product_plans_path.empty()) return agreed;
  const bool is_alone = world.size() == 1 || settings.rank_slice;
  if (is_alone || world.rank() == 0) agreed.json = choose_plans(options, settings, log);
  if (!is_alone) {
    agreed.json = broadcast_text(*world.make_group_of_all("product_plans"), std::move(agreed.json),
                                 0, "product_plans");
  }
  const std::vector<LinearShape> experts = lone_expert_shapes(settings);
  if (!experts.empty() && !options.expert_counts) {
    const std::string key = cuda::expert_key(experts, product_numbers(settings.precision));
    agreed.expert_counts = way_of(expert_ways(agreed.json), key).value_or(settings.expert_counts);
  }
  return agreed;
}

}  // namespace llmb::runner
