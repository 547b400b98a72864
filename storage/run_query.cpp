#include "storage/run_query.h"

#include <array>
#include <string_view>

namespace llmb::storage {
namespace {

struct Name {
  RunSortKey key;
  std::string_view text;
};
constexpr std::array kNames = {
    Name{RunSortKey::id, "id"},
    Name{RunSortKey::launched_at, "launched_at"},
    Name{RunSortKey::grown_at, "grown_at"},
    Name{RunSortKey::experiment, "experiment"},
    Name{RunSortKey::status, "status"},
    Name{RunSortKey::gpu_count, "gpu_count"},
    Name{RunSortKey::step_time_s_mean, "step_time_s_mean"},
    Name{RunSortKey::step_time_s_stddev_sample, "step_time_s_stddev_sample"},
    Name{RunSortKey::step_time_s_median, "step_time_s_median"},
    Name{RunSortKey::step_time_s_p95, "step_time_s_p95"},
    Name{RunSortKey::tflops_per_gpu_mean, "tflops_per_gpu_mean"},
    Name{RunSortKey::tokens_per_s_per_gpu, "tokens_per_s_per_gpu"},
    Name{RunSortKey::mfu, "mfu"},
    Name{RunSortKey::speed_against_reference, "speed_against_reference"},
    Name{RunSortKey::failure_cause, "failure_cause"},
    Name{RunSortKey::last_iteration, "last_iteration"},
    Name{RunSortKey::step_count, "step_count"},
};

}  // namespace

std::optional<RunSortKey> run_sort_key_from_name(std::string_view name) {
  for (const Name& entry : kNames) {
    if (entry.text == name) return entry.key;
  }
  return std::nullopt;
}

std::string_view run_sort_key_name(RunSortKey key) {
  for (const Name& entry : kNames) {
    if (entry.key == key) return entry.text;
  }
  return "id";
}

std::string run_sort_key_names() {
  std::string names;
  for (const Name& entry : kNames) {
    names.append(names.empty() ? "" : ", ").append(entry.text);
  }
  return names;
}

}  // namespace llmb::storage
