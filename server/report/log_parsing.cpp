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
#include "parser/statistics/unknown_profile.h"
#include "server/report/joined_logs.h"
#include "server/report/log_source.h"
#include "server/report/progress_line.h"
#include "server/report/refused_lines.h"
#include "server/report/text_reading.h"

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
    if (options.window && options.window->range) wanted_.push_back(*options.window->range);
    if (!options.window || options.judges_published) {
      wanted_.push_back(widest_choice(first_catalog()));
    }
  }

  // One run; of lines of several logs, as grep and tail bring them, one for each.
  Result<std::vector<ReportedRun>> parse(const LogFile& log) {
    auto source = LogSource::open(log);
    if (!source) return tl::unexpected(source.error());
    std::vector<ReportedRun> runs;
    std::vector<std::vector<parser::RefusedLines>> refused;
    const auto add = [&](const std::string& name, TextReading& reading) {
      runs.push_back(report(name.empty() ? log : log_elsewhere(name), reading));
      refused.push_back(reading.reader().refused_lines());
    };
    TextReadings readings({wanted_, options_.keeps_samples, options_.seeks_insight}, add);
    JoinedLogs joined(
        [&](std::string_view name, std::string_view text) { readings.feed(name, text); });
    const auto take = [&](std::string_view bytes) {
      log.is_named ? joined.feed(bytes) : readings.feed({}, bytes);
      progress_.add_bytes(bytes.size());
    };
    if (const auto size = source->read(buffer_, take); !size) {
      return tl::unexpected(size.error());
    }
    joined.finish();
    readings.finish();
    // Of several it is the one whose text came last that is not whole.
    runs.back().flaw = source->flaw();
    if (options_.keeps_refusals) {
      // Of several logs' lines the places are those in the logs themselves, which are not here.
      parser::FileDescriptor text_of_one;
      if (!joined.are_named()) {
        auto text = std::move(*source).text_again();
        if (!text) return tl::unexpected(text.error());
        text_of_one = std::move(*text);
      }
      for (std::size_t i = 0; i < runs.size(); ++i) {
        runs[i].refusals = located_refusals(refused[i], text_of_one.get());
      }
    }
    return runs;
  }

 private:
  ReportedRun report(const LogFile& log, TextReading& reading) {
    ReportedRun run;
    run.path = log.path;
    run.run_path = parser::parse_run_path(log.layout_path);
    run.size_bytes = reading.size_bytes();
    run.text_hash = reading.text_hash();
    run.facts = reading.reader().facts();
    run.step_count = reading.step_count();
    parser::merge_samples(run.samples, reading.take_samples());
    run.run_path.configuration.merge(parser::stated_configuration(run.facts));
    parser::RunConfiguration& configuration = run.run_path.configuration;
    configuration.fill_in("gpu_type", options_.gpu_type, parser::ConfigSource::path);
    add_llmb_config(log.config_folders, run);
    judge(run);
    run.is_profiled = (log.may_have_profiles && has_profiles_beside(run)) ||
                      run.run_path.configuration.value("profile_enabled") == "true";
    run.steady_steps = reading.steady_steps();
    parser::tell_unknown_profile(run.judgement.summary, run.is_profiled, options_.without);
    reading.report_insight(run);
    if (!options_.keeps_samples) run.samples = {};
    return run;
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
    if (options_.judges_published && (options_.window || !options_.without.empty())) {
      run.published = parser::judge_run(*catalog, log, {{}, options_.tokens_to_train});
    }
    const parser::JudgingOptions judging = {options_.window, options_.tokens_to_train,
                                            options_.without};
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
  std::vector<Window> wanted_;  // beside the last step
};

// The outcome of one log, or pipe; a thrown exception (no memory) costs that one only.
Result<std::vector<ReportedRun>> parse_guarded(LogParser& parser, const LogFile& log) {
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
  // Each into its place, since they are large; of what could not be read there are none.
  std::vector<std::vector<ReportedRun>> runs(logs.size());
  std::vector<std::optional<parser::Error>> errors(logs.size());
  {
    ProgressLine progress(logs.size());
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      LogParser parser(options, progress);
      for (std::size_t i = next++; i < logs.size(); i = next++) {
        if (auto parsed = parse_guarded(parser, logs[i])) {
          runs[i] = std::move(*parsed);
        } else {
          errors[i] = std::move(parsed.error());
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
  for (std::vector<ReportedRun>& of_one : runs) {
    std::move(of_one.begin(), of_one.end(), std::back_inserter(report.runs));
  }
  std::ranges::stable_sort(report.runs, {}, &ReportedRun::path);
  add_unread_configs(report);
  std::stable_sort(report.skipped.begin(), report.skipped.end(),
                   [](const auto& a, const auto& b) { return a.path < b.path; });
  return report;
}

}  // namespace llmb::report
