#include "runner/cuda_product_plans.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include "runner/checkpoint/durable_file.h"
#include "runner/cuda/gemm_tuning.h"
#include "runner/cuda/stream.h"
#include "runner/plan/ceiling_shapes.h"

namespace llmb::runner {
namespace {

namespace fs = std::filesystem;

// Why the file's plans are not taken; empty where they are, or where there is no file.
std::string pin(cuda::GemmEngine& engine, const fs::path& path) {
  std::error_code none;
  if (path.empty() || !fs::exists(path, none)) return "";
  std::ifstream file(path, std::ios::binary);
  const std::string json{std::istreambuf_iterator<char>(file), {}};
  if (!file) return "it cannot be read";
  try {
    return engine.pin_plans(json);
  } catch (const std::invalid_argument& error) {
    return error.what();
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
  const std::string why_not = pin(engine, path);
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
  if (options.tune_seconds > 0) {
    const cuda::TuningResult result = tune_products(
        engine,
        cuda::products_of(fixed_linear_shapes(settings), product_numbers(settings.precision)),
        options.tune_seconds, stream);
    log.write("llmb-step-runner: " + tuning_text(result) + "\n");
    if (result.tuned > 0 && !path.empty()) {
      keep(engine.plans_as_json(), path, !why_not.empty(), log);
    }
  }
  return engine.plan_count() > 0 ? engine.plans_as_json() : "";
}

}  // namespace

cuda::ProductNumbers product_numbers(Precision precision) {
  if (precision == Precision::fp32) return cuda::ProductNumbers::fp32;
  return is_fp8(precision) ? cuda::ProductNumbers::fp8 : cuda::ProductNumbers::bf16;
}

std::string agree_on_product_plans(World& world, const Options& options,
                                   const RunSettings& settings, LogSink& log) {
  if (options.tune_seconds == 0 && options.product_plans_path.empty()) return "";
  if (world.size() == 1 || settings.rank_slice) return choose_plans(options, settings, log);
  std::string plans;
  if (world.rank() == 0) plans = choose_plans(options, settings, log);
  std::vector<int> ranks(static_cast<std::size_t>(world.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  const auto everybody = world.make_group("product_plans", ranks);
  std::vector<std::int64_t> size{std::ssize(plans)};
  everybody->broadcast(size, 0, "product_plans.size");
  plans.resize(static_cast<std::size_t>(size.front()));
  if (!plans.empty()) {
    everybody->broadcast(std::as_writable_bytes(std::span(plans)), 0, "product_plans.plans");
  }
  return plans;
}

}  // namespace llmb::runner
