#include "server/dispatch/checkpoint_to_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "server/dispatch/file_call.h"
#include "server/dispatch/text_check.h"

namespace llmb::dispatch {
namespace {

namespace fs = std::filesystem;
using parser::fail;
using parser::Result;

// How far below a wrong folder the right one is looked for, and among how many.
constexpr int kDepthMax = 2;
constexpr int kFoldersMax = 1'000;

bool has_weight_files(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (entry->path().extension() == ".distcp") return true;
  }
  return false;
}

bool is_of_runner(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / "manifest.json", error) || fs::exists(folder / "latest", error);
}

struct Found {
  bool is_there = false;
  bool is_of_runner = false;   // `latest`, or manifest.json
  bool holds_weights = false;  // weights/*.distcp
  bool is_weights = false;     // *.distcp
  std::string nemo_below;      // the last one by its name
  std::string of_runner_below;
};

void look_below(const fs::path& path, Found& found) {
  std::error_code error;
  fs::recursive_directory_iterator entry(path, fs::directory_options::skip_permission_denied,
                                         error);
  int folders = 0;
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (entry.depth() + 1 >= kDepthMax) entry.disable_recursion_pending();
    if (!entry->is_directory(ignored)) continue;
    if (++folders > kFoldersMax) return;
    const fs::path& folder = entry->path();
    if (has_weight_files(folder / "weights")) {
      found.nemo_below = std::max(found.nemo_below, folder.string());
    }
    if (is_of_runner(folder)) {
      found.of_runner_below = std::max(found.of_runner_below, folder.string());
    }
  }
}

Found look_at(const std::string& path) {
  const auto looked = ask_file_system<Found>(path, [path]() -> Result<Found> {
    Found found;
    std::error_code error;
    found.is_there = fs::exists(path, error);
    if (!found.is_there) return found;
    found.is_of_runner = is_of_runner(path);
    found.holds_weights = has_weight_files(fs::path(path) / "weights");
    found.is_weights = has_weight_files(path);
    if (!found.is_of_runner && !found.holds_weights && !found.is_weights) look_below(path, found);
    return found;
  });
  return looked.value_or(Found{});
}

// "; /a/b does": where another folder is the one, whole, so that it can be copied.
std::string other(const std::string& folder) {
  return is_plain_path(folder) ? "; " + folder + " does" : "";
}

std::string parent_of(const std::string& path) {
  const fs::path folder(path);
  return (folder.has_filename() ? folder : folder.parent_path()).parent_path().string();
}

Result<void> check_for_runner(const std::string& path, const Found& found, bool waits) {
  if (found.is_of_runner) return {};
  const bool is_nemo = found.holds_weights || found.is_weights;
  const bool has_only_nemo = found.of_runner_below.empty() && !found.nemo_below.empty();
  if (is_nemo || (has_only_nemo && !waits)) {
    return fail(fmt::format(
        "{} holds a NeMo distributed checkpoint (weights/*.distcp), which llmb-step-runner does "
        "not read: the installed recipe does (--launcher recipe), or train one anew with "
        "ENABLE_CHECKPOINT=true and load that",
        in_quotes(is_nemo ? path : found.nemo_below)));
  }
  if (waits) return {};
  return fail(fmt::format(
      "load_checkpoint_path {} holds no checkpoint of llmb-step-runner, which has a file 'latest' "
      "or a manifest.json{}",
      in_quotes(path), other(found.of_runner_below)));
}

Result<void> check_for_recipe(const std::string& path, const Found& found,
                              const std::string& workload, bool waits) {
  const bool has_only_of_runner = found.nemo_below.empty() && !found.of_runner_below.empty();
  if (!found.holds_weights && (found.is_of_runner || (has_only_of_runner && !waits))) {
    return fail(fmt::format(
        "{} holds a checkpoint of llmb-step-runner, which no launch.sh reads: leave out --launcher "
        "recipe, or load one that the recipe saved",
        in_quotes(found.is_of_runner ? path : found.of_runner_below)));
  }
  // The others' documents say nothing of their form.
  if (workload != "pretrain_nemotron4" || found.holds_weights) return {};
  if (found.is_weights) {
    return fail(fmt::format(
        "load_checkpoint_path {} is the folder of the weights: the document wants its parent, {}",
        in_quotes(path), parent_of(path)));
  }
  if (waits) return {};
  return fail(
      fmt::format("load_checkpoint_path {} holds no weights/*.distcp, as the document "
                  "wants it{}",
                  in_quotes(path), other(found.nemo_below)));
}

}  // namespace

Result<void> check_checkpoint_to_load(const Submission& wanted) {
  const std::string& path = wanted.load_checkpoint_path;
  if (path.empty()) return {};
  const Found found = look_at(path);
  if (!found.is_there) return {};  // the plan notes that it is not seen
  const bool waits = wanted.slurm.contains("dependency");
  return wanted.launcher == "recipe" ? check_for_recipe(path, found, wanted.workload, waits)
                                     : check_for_runner(path, found, waits);
}

std::string checkpoint_place_note(const Submission& wanted, const ClusterSettings& settings) {
  const std::string& path = wanted.load_checkpoint_path;
  if (path.empty() || wanted.launcher != "recipe" || wanted.workload != "pretrain_nemotron4" ||
      path.starts_with(settings.workload_folder + "/")) {
    return {};
  }
  return fmt::format(
      "the document wants checkpoints under $STAGE_PATH, which is {}: launch.sh may not see {}",
      settings.workload_folder, path);
}

}  // namespace llmb::dispatch
