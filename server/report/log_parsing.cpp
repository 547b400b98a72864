#include "server/report/log_parsing.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "parser/dialects/stated_configuration.h"
#include "parser/layout/llmb_config.h"
#include "parser/layout/profile_name.h"
#include "parser/reader/log_reader.h"
#include "parser/result.h"
#include "parser/statistics/judge_run.h"
#include "parser/statistics/step_scatter.h"
#include "parser/statistics/unknown_profile.h"
#include "server/report/evidence_json.h"
#include "server/report/log_source.h"
#include "server/report/progress_line.h"
#include "server/report/refused_lines.h"

namespace llmb::report {
namespace {

namespace fs = std::filesystem;
using parser::RecipeExtent;
using parser::Result;
using parser::StepSample;
using parser::Window;

constexpr std::size_t kReadBytes = std::size_t{256} << 10U;
constexpr std::size_t kConfigBytesMax = std::size_t{1} << 20U;

// The dialect and the recipe, and with them the window, may not be known before the log's end: all
// windows that may be chosen count.
Window widest_choice(const parser::Catalog& catalog) {
  Window all = parser::default_window(parser::Dialect::unknown);
  const auto add = [&](const std::optional<Window>& window) {
    if (!window) return;
    all.first_iteration = std::min(all.first_iteration, window->first_iteration);
    all.last_iteration = std::max(all.last_iteration, window->last_iteration);
  };
  for (const parser::DialectTraits& traits : parser::dialects()) {
    add(parser::default_window(traits.dialect));
    for (const auto& document : catalog.documents) {
      add(parser::documented_window(document, traits.dialect));
    }
  }
  for (const auto& rule : catalog.release_windows) add(rule.window);
  return all;
}

// What is kept of a log's steps: those that a window may hold or that tell the batch, and the last
// of every segment that LogFacts may keep.
class KeptSamples {
 public:
  KeptSamples(const std::optional<Window>& wanted, bool keeps_all)
      : wanted_(wanted), keeps_all_(keeps_all) {}

  void add(StepSample&& sample, const parser::LogFacts& facts) {
    const bool is_kept = keeps_all_ || (wanted_ && wanted_->contains(sample.iteration)) ||
                         parser::batch_evidence_window(facts).contains(sample.iteration);
    if (is_kept) {
      kept_.push_back(std::move(sample));
      return;
    }
    const bool is_next = newest_ && newest_->segment != sample.segment;
    if (is_next && newest_->segment < kSegmentsKept) kept_.push_back(std::move(*newest_));
    if (!newest_ || is_next || newest_->iteration <= sample.iteration) newest_ = std::move(sample);
  }

  std::vector<StepSample> take() {
    if (newest_) kept_.push_back(std::move(*newest_));
    newest_.reset();
    return std::move(kept_);
  }

 private:
  static constexpr auto kSegmentsKept = static_cast<std::int32_t>(parser::kSegmentsMax);

  const std::optional<Window>& wanted_;
  bool keeps_all_;
  std::vector<StepSample> kept_;  // amended ones stand twice
  std::optional<StepSample> newest_;
};

// What StepInsight needs of all steps, also of those outside the window: numbers only.
class InsightSamples {
 public:
  explicit InsightSamples(bool are_wanted) : are_wanted_(are_wanted) {}

  // After the last that fits, all are dropped: memory stays bounded.
  void add(const StepSample& sample) {
    if (is_full_ || !are_wanted_) return;
    StepSample slim;
    slim.segment = sample.segment;
    slim.iteration = sample.iteration;
    slim.step_time_s = sample.step_time_s;
    slim.step_time_resolution_s = sample.step_time_resolution_s;
    slim.memory_bytes_max = sample.memory_bytes_max;
    slim.memory_bytes_allocated = sample.memory_bytes_allocated;
    samples_.push_back(std::move(slim));
    is_full_ = static_cast<std::int64_t>(samples_.size()) > kInsightStepsMax;
    if (is_full_) samples_ = {};
  }

  void report(ReportedRun& run) {
    if (!are_wanted_) return;
    if (is_full_) {
      run.insight_reason = "the log holds too many steps for one look";
      return;
    }
    std::vector<StepSample> merged;
    parser::merge_samples(merged, std::move(samples_));
    std::erase_if(merged, [&](const StepSample& sample) {
      return sample.segment != run.judgement.summary.segment;
    });
    run.insight = parser::compute_step_insight(merged);
  }

 private:
  bool are_wanted_;
  std::vector<StepSample> samples_;  // amended ones stand twice
  bool is_full_ = false;
};

bool has_profiles_beside(const ReportedRun& run) {
  const std::size_t folder_bytes = run.path.rfind('/') + 1;
  std::error_code error;
  const fs::path folder = run.path.substr(0, folder_bytes) + std::string(parser::kProfileFolder);
  fs::directory_iterator entries(folder, error);
  if (error) return false;
  return std::any_of(begin(entries), end(entries), [&](const fs::directory_entry& entry) {
    const auto name = parser::parse_profile_name(entry.path().filename().string());
    const auto& job_id = run.run_path.job_id;
    return name && (!name->job_id || !job_id || *name->job_id == *job_id);
  });
}

class LogParser {
 public:
  LogParser(const ParsingOptions& options, ProgressLine& progress)
      : options_(options), progress_(progress), buffer_(kReadBytes) {
    wanted_ = options.window ? options.window->range : widest_choice(first_catalog());
  }

  Result<ReportedRun> parse(const LogFile& log) {
    ReportedRun run;
    run.path = log.path;
    run.run_path = parser::parse_run_path(log.layout_path);
    auto source = LogSource::open(log);
    if (!source) return tl::unexpected(source.error());

    parser::LogReader reader;
    KeptSamples samples(wanted_, options_.keeps_samples);
    StepCounter steps;
    InsightSamples insight(options_.seeks_insight);
    parser::NewestStepTimes newest;
    const auto take = [&](std::string_view bytes) {
      reader.feed(bytes);
      collect(reader, samples, steps, insight, newest);
      progress_.add_bytes(bytes.size());
    };
    const auto size = source->read(buffer_, take);
    if (!size) return tl::unexpected(size.error());
    reader.finish();
    collect(reader, samples, steps, insight, newest);

    run.size_bytes = *size;
    run.facts = reader.facts();
    if (options_.keeps_refusals) {
      const auto text = std::move(*source).text_again();
      if (!text) return tl::unexpected(text.error());
      run.refusals = located_refusals(reader.refused_lines(), text->get());
    }
    run.step_count = steps.count;
    parser::merge_samples(run.samples, samples.take());
    run.run_path.configuration.merge(parser::stated_configuration(run.facts));
    parser::RunConfiguration& configuration = run.run_path.configuration;
    configuration.fill_in("gpu_type", options_.gpu_type, parser::ConfigSource::path);
    add_llmb_config(log.config_folders, run);
    judge(run);
    run.is_profiled = (log.may_have_profiles && has_profiles_beside(run)) ||
                      run.run_path.configuration.value("profile_enabled") == "true";
    run.steady_steps = parser::steady_steps_of(newest.newest_first());
    parser::tell_unknown_profile(run.judgement.summary, run.is_profiled, options_.without);
    insight.report(run);
    if (!options_.keeps_samples) run.samples = {};
    return run;
  }

 private:
  // Steps come in order, and an amended one comes again.
  struct StepCounter {
    std::int64_t count = 0;
    std::pair<std::int32_t, std::int64_t> last{-1, 0};

    void add(const StepSample& sample) {
      const std::pair step(sample.segment, sample.iteration);
      if (step <= last) return;
      last = step;
      ++count;
    }
  };

  static void collect(parser::LogReader& reader, KeptSamples& samples, StepCounter& steps,
                      InsightSamples& insight, parser::NewestStepTimes& newest) {
    for (StepSample& sample : reader.take_samples()) {
      steps.add(sample);
      insight.add(sample);
      newest.add(sample);
      samples.add(std::move(sample), reader.facts());
    }
  }

  const parser::Catalog& first_catalog() const {
    return options_.catalog != nullptr ? *options_.catalog
                                       : parser::embedded_recipes(RecipeExtent::documents);
  }

  void judge(ReportedRun& run) const {
    // A one-shot look at a file cannot know whether its job lives: what is there is the end.
    const parser::RunToJudge log = {
        .facts = run.facts,
        .configuration = run.run_path.configuration,
        .samples = [&](const Window&) { return std::span<const StepSample>(run.samples); },
        .may_still_grow = false};
    const parser::Catalog* catalog = &first_catalog();
    auto assigned = parser::assign_window(*catalog, log, options_.window);
    const parser::RecipeMatch& match = assigned.match;
    const bool names_tables = !match.release.empty() || !match.stated_document.empty();
    if (match.recipe == nullptr && names_tables && options_.catalog == nullptr) {
      catalog = &parser::embedded_recipes(RecipeExtent::all);
      assigned = parser::assign_window(*catalog, log, options_.window);
    }
    parser::JudgingOptions judging = {options_.window, options_.tokens_to_train};
    if (!options_.without.empty()) {
      run.with_every_step = parser::judge_window(*catalog, log, assigned, judging);
      judging.without = options_.without;
    }
    run.judgement = parser::judge_window(*catalog, log, std::move(assigned), judging);
  }

  // As ingest has it (config_index.h): that of its job, the nearest, else that of its own folder,
  // else, of a log that is alone there and names no job, the only one. Absent is normal, and a
  // broken one costs its values only.
  void add_llmb_config(const std::vector<std::string>& folders, ReportedRun& run) {
    const auto& job_id = run.run_path.job_id;
    for (const std::string& folder : folders) {
      if (job_id && add_config_file(fmt::format("{}llmb-config_{}.yaml", folder, *job_id), run)) {
        return;
      }
    }
    const std::string folder = run.path.substr(0, run.path.rfind('/') + 1);
    if (folders.empty() || folders.front() != folder) return;
    if (add_config_file(folder + "llmb-config.yaml", run) || job_id) return;
    if (const auto only = only_config_of_only_log(folder)) add_config_file(*only, run);
  }

  // False where there is none.
  bool add_config_file(const std::string& path, ReportedRun& run) {
    std::error_code error;
    if (fs::symlink_status(path, error).type() == fs::file_type::not_found) return false;
    const auto config = read_config_file(path);
    if (config) {
      run.run_path.configuration.merge(config->configuration);
    } else {
      run.unread_config = {
          path, fmt::format("{}; its runs keep what their paths say", config.error().message)};
    }
    return true;
  }

  Result<parser::LlmbConfig> read_config_file(const std::string& path) {
    std::uint64_t size = 0;
    const auto file = open_regular(path, false, size);
    if (!file) return tl::unexpected(file.error());
    if (size > kConfigBytesMax) return parser::fail("longer than 1 MiB, which no llmb-config is");
    std::string text;
    const auto append = [&](std::string_view bytes) { text += bytes; };
    if (const auto got = read_blocks(file->get(), size, buffer_, append); !got) {
      return tl::unexpected(got.error());
    }
    return parser::parse_llmb_config(text);
  }

  static std::optional<std::string> only_config_of_only_log(const std::string& folder) {
    std::error_code error;
    std::vector<std::string> configs;
    std::set<std::string> logs;  // each may lie there in both forms
    std::filesystem::directory_iterator entries(folder.empty() ? "." : folder, error);
    for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
      const std::string name = entries->path().filename().string();
      const parser::FileRole role = parser::classify_file(name);
      if (role == parser::FileRole::training_log || role == parser::FileRole::compressed_log) {
        logs.insert(std::string(parser::uncompressed_name(name)));
      }
      if (role == parser::FileRole::llmb_config) configs.push_back(folder + name);
    }
    if (error || logs.size() != 1 || configs.size() != 1) return std::nullopt;
    return configs.front();
  }

  const ParsingOptions& options_;
  ProgressLine& progress_;
  std::vector<char> buffer_;
  std::optional<Window> wanted_;  // beside the last step
};

// One log's outcome; a thrown exception (no memory) costs that log only.
Result<ReportedRun> parse_guarded(LogParser& parser, const LogFile& log) {
  try {
    return parser.parse(log);
  } catch (const std::exception& error) {
    return parser::fail(error.what());
  }
}

// Each llmb-config once, however many logs it belongs to.
void add_unread_configs(LogReport& report) {
  std::set<std::string_view> told;
  for (const ReportedRun& run : report.runs) {
    if (!run.unread_config || !told.insert(run.unread_config->path).second) continue;
    report.skipped.push_back(*run.unread_config);
  }
}

}  // namespace

LogReport parse_logs(FoundLogs discovery, const ParsingOptions& options) {
  const std::vector<LogFile>& logs = discovery.logs;
  LogReport report;
  // Each into its place, since they are large; one that could not be read stays without a path.
  report.runs.resize(logs.size());
  std::vector<std::optional<parser::Error>> errors(logs.size());
  {
    ProgressLine progress(logs.size());
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      LogParser parser(options, progress);
      for (std::size_t i = next++; i < logs.size(); i = next++) {
        if (auto run = parse_guarded(parser, logs[i])) {
          report.runs[i] = std::move(*run);
        } else {
          errors[i] = std::move(run.error());
        }
        progress.add_done();
      }
    };
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < std::min(cores, logs.size()); ++i) threads.emplace_back(work);
    work();
  }

  report.has_samples = options.keeps_samples;
  report.has_refusals = options.keeps_refusals;
  report.has_metrics = options.tokens_to_train.has_value();
  report.skipped = std::move(discovery.skipped);
  report.others = std::move(discovery.others);
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (errors[i]) report.skipped.push_back({logs[i].path, errors[i]->message});
  }
  add_unread_configs(report);
  std::erase_if(report.runs, [](const ReportedRun& run) { return run.path.empty(); });
  std::stable_sort(report.skipped.begin(), report.skipped.end(),
                   [](const auto& a, const auto& b) { return a.path < b.path; });
  return report;
}

}  // namespace llmb::report
