#include "parser/layout/results_tree.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "parser/foundation/parse_number.h"
#include "parser/foundation/text.h"
#include "parser/layout/name_tokens.h"

namespace llmb::parser {
namespace {

using Tokens = std::vector<std::string_view>;

constexpr std::string_view kTraceSuffix = "-nccl-trace";
constexpr std::array<std::string_view, 7> kFrameworks = {"nemo", "maxtext", "megatron", "jax",
                                                         "hf",   "pytorch", "paxml"};

// How many tokens the experiment's name has: all but job id and retry. The scale is a number too,
// and known from the folder.
std::size_t count_name_tokens(const Tokens& tokens, const std::string& gpu_count) {
  const std::size_t n = tokens.size();
  for (std::size_t count = n > 3 ? n - 2 : 1; count <= n; ++count) {
    const bool rest_is_numbers =
        std::all_of(tokens.begin() + static_cast<std::ptrdiff_t>(count), tokens.end(), is_digits);
    if (rest_is_numbers && tokens[count - 1] == gpu_count) return count;
  }
  return n > 1 && is_digits(tokens.back()) ? n - 1 : n;
}

void read_model_name(const Tokens& tokens, std::size_t name_tokens,
                     RunConfiguration& configuration) {
  constexpr auto kFromFolders = ConfigSource::experiment_name;
  const auto size = configuration.value("model_size").value_or("");
  const bool has_framework =
      std::find(kFrameworks.begin(), kFrameworks.end(), tokens[0]) != kFrameworks.end();
  const std::string type(workload_type(tokens[0]));
  const std::size_t first = has_framework || !type.empty() ? 1 : 0;
  std::size_t end = first;
  while (end < name_tokens && tokens[end] != size) ++end;
  if (end == name_tokens || end == first || tokens[first].empty()) return;
  if (has_framework) configuration.set("framework", std::string(tokens[0]), kFromFolders);
  const std::string model = join_tokens(tokens, first, end);
  configuration.set("model", model, kFromFolders);
  configuration.set("workload_type", type, kFromFolders);
  configuration.set("workload", type.empty() ? model : type + "_" + model, kFromFolders);
}

}  // namespace

bool read_results_folders(std::span<const std::string_view> folders,
                          RunConfiguration& configuration) {
  constexpr auto kFromFolders = ConfigSource::path;
  const std::size_t n = folders.size();
  if (n < 3) return false;
  const std::string_view dtype = folders[n - 3];
  const std::string_view size = folders[n - 2];
  const auto gpus = parse_digits(folders[n - 1]);
  if (!is_dtype(split(dtype, '_')[0]) || !is_model_size(size) || !gpus) return false;
  configuration.set("dtype", std::string(dtype), kFromFolders);
  configuration.set("model_size", std::string(size), kFromFolders);
  configuration.set("gpu_count", std::to_string(*gpus), kFromFolders);
  if (n >= 4) {
    std::string_view release = folders[n - 4];
    if (release.ends_with(kTraceSuffix)) {
      release.remove_suffix(kTraceSuffix.size());
      configuration.set("nccl_trace_enabled", "true", kFromFolders);
    }
    // A tree that somebody made may have any other folder there.
    if (is_release(release)) configuration.set("release", std::string(release), kFromFolders);
  }
  return true;
}

LogName read_results_file_name(std::string_view file_name, RunConfiguration& configuration) {
  LogName log;
  std::string_view stem = file_name;
  if (stem.ends_with(".out") && stem.size() > 4) stem.remove_suffix(4);
  log.name = stem;
  if (stem.starts_with("slurm-")) {
    log.job_id = parse_digits(stem.substr(6));
    return log;
  }
  if (stem.starts_with("log-") && stem.size() > 4) stem.remove_prefix(4);
  const Tokens tokens = split(stem, '_');
  const std::size_t name_tokens =
      count_name_tokens(tokens, configuration.value("gpu_count").value_or(""));
  log.name = join_tokens(tokens, 0, name_tokens);
  if (name_tokens < tokens.size()) log.job_id = parse_digits(tokens[name_tokens]);
  if (log.job_id && name_tokens + 1 < tokens.size()) {
    log.retry = parse_digits(tokens[name_tokens + 1]);
  }
  read_model_name(tokens, name_tokens, configuration);
  return log;
}

}  // namespace llmb::parser
