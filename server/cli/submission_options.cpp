#include "server/cli/submission_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "server/dispatch/runner_option_table.h"
#include "server/dispatch/text_check.h"

namespace llmb::cli {
namespace {

using dispatch::Submission;
using parser::fail;
using parser::Result;

constexpr std::size_t kJobFileBytesMax = std::size_t{4} * 1024 * 1024;

struct NameAndValue {
  std::string name;
  std::string value;
};

Result<NameAndValue> split(const std::string& text, const std::string& option) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) {
    return fail(option + " takes NAME=VALUE, not " + dispatch::in_quotes(text));
  }
  return NameAndValue{text.substr(0, equals), text.substr(equals + 1)};
}

Result<std::string> read_jobs_file(const std::string& file) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file, error);
  std::ifstream input(file, std::ios::binary);
  if (error || !input) {
    return fail("cannot read the file of jobs " + file + (error ? ": " + error.message() : ""));
  }
  if (bytes > kJobFileBytesMax) return fail(file + " is larger than a file of jobs may be (4 MiB)");
  std::ostringstream text;
  text << input.rdbuf();
  return text.str();
}

Result<std::vector<Submission>> submissions_of_file(const std::string& file) {
  const auto text = read_jobs_file(file);
  if (!text) return tl::unexpected(text.error());
  const auto document = nlohmann::ordered_json::parse(*text, nullptr, false);
  if (document.is_discarded()) return fail(file + " is not valid JSON");
  std::vector<nlohmann::ordered_json> entries = {document};
  if (document.is_array()) entries.assign(document.begin(), document.end());
  std::vector<Submission> all;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto error_handler = nlohmann::ordered_json::error_handler_t::replace;
    auto some = dispatch::parse_submissions(entries[i].dump(-1, ' ', false, error_handler));
    if (!some) {
      return fail(fmt::format("{}, entry {}: {}", file, i + 1, some.error().message));
    }
    all.insert(all.end(), some->begin(), some->end());
    if (all.size() > dispatch::kJobsAtOnceMax) {
      return fail(fmt::format("{} has more than {} jobs", file, dispatch::kJobsAtOnceMax));
    }
  }
  if (all.empty()) return fail(file + " holds no jobs");
  return all;
}

// One value of a name, which may be said again. An error shows none: it may be a secret.
template <typename Values>
Result<void> set_once(Values& values, const std::string& name,
                      const typename Values::mapped_type& value, const char* option) {
  const auto [place, is_new] = values.try_emplace(name, value);
  if (is_new || place->second == value) return {};
  return fail(fmt::format("{} {} is given twice, with two values", option, name));
}

Result<void> add_pairs(Submission& submission, const SubmissionArguments& arguments) {
  for (const std::string& text : arguments.environment) {
    auto pair = split(text, "--env");
    if (!pair) return tl::unexpected(pair.error());
    auto set = set_once(submission.environment, pair->name, pair->value, "--env");
    if (!set) return set;
  }
  for (const std::string& text : arguments.runner_options) {
    auto pair = split(text, "--set");
    if (!pair) return tl::unexpected(pair.error());
    const auto number = dispatch::parse_runner_option(pair->name, pair->value);
    if (!number) return fail("--set " + number.error().message);
    auto set = set_once(submission.runner_options, pair->name, *number, "--set");
    if (!set) return set;
  }
  for (const std::string& text : arguments.slurm_arguments) {
    auto added = dispatch::add_slurm_argument(submission.slurm, text, "--slurm-arg");
    if (!added) return added;
  }
  for (const auto& [name, value] : arguments.slurm_options) {
    auto added = dispatch::add_slurm_parameter(submission.slurm, name, value, "--" + name);
    if (!added) return added;
  }
  return {};
}

void add_slurm_options(CLI::App& command, SubmissionArguments& arguments,
                       std::vector<const CLI::Option*>& options) {
  struct Known {
    const char* name;
    const char* help;
  };
  constexpr auto kKnown = std::to_array<Known>({
      {"account", "Slurm's account [SBATCH_ACCOUNT]"},
      {"partition", "Slurm's partition [SBATCH_PARTITION]"},
      {"time", "Time limit, as sbatch takes it"},
      {"nodelist", "Run on these nodes: node001,node002"},
      {"exclude", "Run on none of these nodes"},
      {"reservation", "Run in this reservation"},
      {"segment", "Nodes in blocks of so many, on one switch each"},
      {"nice", "Lower the priority by so much"},
  });
  for (const Known& known : kKnown) {
    const std::string name = known.name;
    options.push_back(command
                          .add_option_function<std::string>(
                              "--" + name,
                              [&arguments, name](const std::string& value) {
                                arguments.slurm_options.emplace_back(name, value);
                              },
                              known.help)
                          ->type_name("TEXT")
                          ->group("Slurm"));
  }
  options.push_back(command
                        .add_option("--slurm-arg", arguments.slurm_arguments,
                                    "Any other option of sbatch that may be set; repeatable")
                        ->type_name("KEY=VALUE")
                        ->group("Slurm"));
}

}  // namespace

void add_submission_options(CLI::App& command, SubmissionArguments& arguments) {
  Submission& submission = arguments.submission;
  std::vector<const CLI::Option*>& options = arguments.options_of_jobs;
  const auto add = [&](const char* name, auto& into, const char* help) {
    CLI::Option* const option = command.add_option(name, into, help);
    options.push_back(option);
    return option;
  };
  const auto flag = [&](const char* name, bool& into, const char* help) {
    options.push_back(command.add_flag(name, into, help));
  };
  add("-w,--workload", submission.workload, "Workload of the catalog: pretrain_grok1 …");
  add("-s,--model-size", submission.model_size, "Size of its model: 314b …");
  add("--dtype", submission.dtype,
      "bf16, fp8 …; without it the document's default, else bf16 where its table has that; some "
      "documents require it [DTYPE]");
  add("--scale", arguments.scales, "GPUs; several make several jobs: 128,256,512")
      ->delimiter(',')
      ->type_name("N,N…");
  add("-r,--repeats", arguments.repeats, "As many jobs of each scale")->type_name("N");
  add("--gpu-type", submission.gpu_type,
      "h100, gb200 … where the cluster does not say; without it the document's, or, where that has "
      "no recipe at this scale, the only one that has [GPU_TYPE]");
  add("--document", submission.document, "The row of this document: grok1-24.11 …");
  add("--gpus-per-node", submission.gpus_per_node, "Where the cluster does not say")
      ->type_name("N");
  flag("-p,--profile", submission.profile, "Profile with Nsight Systems");
  add("--profile-ranks", submission.profile_ranks, "Ranks to profile: all, 0-8 (the document's)")
      ->type_name("LIST");
  add("--profile-start-step", submission.profile_start_step,
      "First step to profile, before that to stop at (the document's)")
      ->type_name("N");
  add("--profile-stop-step", submission.profile_stop_step,
      "Profiling ends before this step, the last of the run at most (the document's)")
      ->type_name("N");
  flag("--gpu-metrics", submission.gpu_metrics, "GPU metrics in the profile");
  flag("--nccl-trace", submission.nccl_trace, "Trace collectives");
  flag("--checkpoint", submission.checkpoint, "Save a checkpoint");
  add("--load-checkpoint", submission.load_checkpoint_path, "Load this checkpoint, and run a step")
      ->type_name("DIR");
  add("--container-image", submission.container_image,
      "Run the ranks in this container, by pyxis; an installed recipe takes RUN_CONF_IMAGE, too")
      ->type_name("IMAGE");
  add("--container-mounts", submission.container_mounts,
      "Mounts of the container: /from:/to,/data:/data:ro; an installed recipe takes "
      "RUN_CONF_MOUNTS, too")
      ->type_name("LIST");
  flag("--proxy", submission.proxy, "A smaller model, or a scale that no recipe has");
  add("--backend", submission.backend, "cuda or cpu (default: the best that the runner has)");
  add("--launcher", submission.launcher, "runner, or recipe: an installed recipe's launch.sh")
      ->capture_default_str();
  add("--set", arguments.runner_options,
      "Option of llmb-step-runner: num-layers=2, cuda-graphs=true; repeatable")
      ->type_name("NAME=VALUE");
  add("--env", arguments.environment, "Environment variable of the job; repeatable")
      ->type_name("NAME=VALUE");
  add_slurm_options(command, arguments, options);
  command
      .add_option("--file", arguments.file,
                  "Jobs as JSON, in place of the options above and of Slurm's: one submission, or "
                  "a list of them, as POST /api/v1/jobs has it")
      ->type_name("FILE");
}

Result<std::vector<Submission>> submissions_of(const SubmissionArguments& arguments) {
  if (!arguments.file.empty()) {
    for (const CLI::Option* const option : arguments.options_of_jobs) {
      if (option->count() == 0) continue;
      return fail("--file describes whole jobs, so " + option->get_name() + " has to stand in it");
    }
    return submissions_of_file(arguments.file);
  }
  if (arguments.repeats < 1) return fail("--repeats has to be 1 or more");
  const auto count_max = static_cast<std::int64_t>(dispatch::kJobsAtOnceMax);
  if (arguments.repeats > count_max ||
      static_cast<std::int64_t>(arguments.scales.size()) * arguments.repeats > count_max) {
    return fail(fmt::format("more than {} jobs at once", count_max));
  }
  Submission submission = arguments.submission;
  if (auto added = add_pairs(submission, arguments); !added) return tl::unexpected(added.error());
  std::vector<Submission> all;
  // JOB_TOTAL_GPUS may say it.
  const std::vector<std::int64_t> scales =
      arguments.scales.empty() ? std::vector<std::int64_t>{0} : arguments.scales;
  for (const std::int64_t scale : scales) {
    if (scale < 1 && !arguments.scales.empty()) return fail("--scale has to be 1 or more");
    submission.scale = scale;
    all.insert(all.end(), static_cast<std::size_t>(arguments.repeats), submission);
  }
  return all;
}

}  // namespace llmb::cli
