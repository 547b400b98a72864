#include "server/cli/commands.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/cli/catalog_option.h"
#include "server/cli/exit_codes.h"
#include "server/cli/log_level.h"
#include "server/cli/push_arguments.h"
#include "server/cli/stop_signals.h"
#include "server/cli/watched_trees.h"
#include "server/ingest/ingest.h"
#include "storage/database.h"

namespace llmb::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenDrawings{100};
constexpr std::chrono::seconds kBetweenLines{10};
constexpr std::int64_t kPushPatienceMaxS = 86'400;

struct IngestArguments {
  bool once = false;
  bool follow = false;
  bool anew = false;
  bool allow_network_file_system = false;
  std::string database;
  std::string catalog_file;
  std::string gpu_type;
  std::string log_level;
  std::vector<std::string> roots;
  PushArguments push;
};

// `--log-level off`: only what went wrong is said, so that a timer's mail means something.
bool is_quiet() {
  return spdlog::get_level() == spdlog::level::off;
}

// A bar that is drawn over itself on a terminal; a line now and then elsewhere, but where it is
// quiet.
class Progress {
 public:
  explicit Progress(bool reads_anew) : reads_anew_(reads_anew) {}
  void show(const ingest::IngestStatus& status) {
    if (is_silent_) return;
    const auto now = Clock::now();
    if (now - shown_at_ < (is_terminal_ ? Clock::duration(kBetweenDrawings) : kBetweenLines)) {
      return;
    }
    shown_at_ = now;
    if (!is_terminal_) {
      std::fprintf(stderr, "%s\n", text(status).c_str());
      return;
    }
    std::fprintf(stderr, "\r%s %s\x1b[K", bar(status).c_str(), text(status).c_str());
    is_drawn_ = true;
  }
  void finish(const ingest::IngestStatus& status) {
    if (is_silent_) return;
    if (is_drawn_) std::fputs("\r\x1b[K", stderr);
    std::fprintf(stderr, "%s\n", text(status).c_str());
  }

 private:
  static std::string bar(const ingest::IngestStatus& status) {
    constexpr std::size_t kWidth = 24;
    const double all = static_cast<double>(status.bytes_read + status.bytes_pending);
    const double share = all > 0 ? static_cast<double>(status.bytes_read) / all : 0;
    const auto filled = static_cast<std::size_t>(share * static_cast<double>(kWidth));
    return '[' + std::string(filled, '#') + std::string(kWidth - filled, '.') + ']';
  }
  std::string anew(const ingest::IngestStatus& status) const {
    if (!reads_anew_) return {};
    return fmt::format(", {} to read anew", status.files_of_earlier_reading);
  }
  std::string text(const ingest::IngestStatus& status) {
    char line[320];
    std::snprintf(line, sizeof line,
                  "%lld logs, %lld to read%s; %.1f MB read, %.1f MB to go; %lld steps stored%s",
                  static_cast<long long>(status.files_seen),
                  static_cast<long long>(status.files_pending), anew(status).c_str(),
                  static_cast<double>(status.bytes_read) / 1e6,
                  static_cast<double>(status.bytes_pending) / 1e6,
                  static_cast<long long>(status.samples_committed),
                  status.files_parked == 0 ? "" : "; some could not be read, see above");
    return line;
  }

  const bool reads_anew_;
  const bool is_terminal_ = isatty(STDERR_FILENO) == 1;
  const bool is_silent_ = !is_terminal_ && is_quiet();
  bool is_drawn_ = false;
  Clock::time_point shown_at_ = Clock::now() - kBetweenDrawings;
};

int ingest_once(ingest::Ingest& ingest, bool reads_anew, const StopSignals& signals) {
  Progress progress(reads_anew);
  int signal = 0;
  ingest.run_once([&](const ingest::IngestStatus& status) {
    progress.show(status);
    if (signal == 0) signal = signals.wait(std::chrono::milliseconds(0));
    if (signal != 0) ingest.request_stop();
  });
  const ingest::IngestStatus status = ingest.status();
  progress.finish(status);
  for (const std::string& error : status.root_errors) std::cerr << "llmb-report: " << error << '\n';
  bool one_hangs = false;
  for (const ingest::RootStatus& root : status.roots) {
    if (!root.hangs_since) continue;
    one_hangs = true;
    std::cerr << "llmb-report: the root " << root.path
              << " does not answer; what could not be read of it is read another time\n";
  }
  if (signal != 0) return kSignalExit + signal;
  return !one_hangs && status.root_errors.empty() && status.files_parked == 0 ? 0 : 1;
}

// Why --anew left some as they are.
std::string left_by_anew(const ingest::IngestStatus& status) {
  std::string text;
  for (const ingest::RereadRefusal refusal : ingest::kRereadRefusals) {
    const std::int64_t count = status.rereads_left.of(refusal);
    if (count == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", count, ingest::refusal_words(refusal));
  }
  return text;
}

void tell_earlier_readings(const ingest::IngestStatus& status, bool reads_anew) {
  if (status.files_of_earlier_reading == 0) return;
  if (reads_anew) {
    std::cerr << fmt::format(
        "llmb-report: {} of these logs stay as an earlier version told them: {}\n",
        status.files_of_earlier_reading, left_by_anew(status));
    return;
  }
  std::cerr << fmt::format(
      "llmb-report: an earlier version, whose rules have changed since, told {} of these logs; "
      "--anew reads those again that have settled\n",
      status.files_of_earlier_reading);
}

// A tree whose runs were removed looks like one whose logs are not seen.
void tell_removed(const std::string& database, const ingest::IngestStatus& status) {
  const auto removed = storage::Reader(database).removed_logs();
  const auto count = std::count_if(removed.begin(), removed.end(), [&](const auto& log) {
    return std::any_of(status.roots.begin(), status.roots.end(),
                       [&](const auto& root) { return root.id == log.root_id; });
  });
  if (count == 0) return;
  std::cerr << fmt::format(
      "llmb-report: {} of these logs are passed over: their runs were removed on purpose "
      "(llmb-report prune, or retention); a log that changes comes back, and `llmb-report prune "
      "--undo` lets them in again\n",
      count);
}

int ingest_follow(ingest::Ingest& ingest, push::PushAgent* agent, const StopSignals& signals) {
  ingest.start();
  if (agent != nullptr) agent->start();
  bool is_announced = false;
  while (signals.wait(std::chrono::milliseconds(500)) == 0) {
    const ingest::IngestStatus status = ingest.status();
    if (is_announced || !status.first_scan_done || status.files_pending != 0) continue;
    spdlog::info("{} logs are read; following them", status.files_seen);
    is_announced = true;
  }
  spdlog::info("stopping");
  if (agent != nullptr) agent->stop();
  ingest.stop();
  return 0;
}

// Whether there are some.
bool leave_out_missing(std::vector<ingest::RootOptions>& roots) {
  const std::vector<std::string> missing = take_out_missing_roots(roots);
  for (const std::string& path : missing) {
    std::cerr << "llmb-report ingest: " << path
              << " is no folder that is there; nothing is read or kept of it\n";
  }
  return !missing.empty();
}

int run_ingest(const IngestArguments& arguments) {
  if (arguments.once == arguments.follow) {
    std::cerr << "llmb-report ingest: say --once (read what is there, and end) or --follow (go "
                 "on reading)\n";
    return kBadArguments;
  }
  ingest::IngestOptions options;
  std::vector<std::string> notes;
  options.roots = choose_roots(roots_at(arguments.roots), notes);
  for (const std::string& note : notes) std::cerr << "llmb-report ingest: " << note << '\n';
  if (options.roots.empty()) {
    std::cerr << "llmb-report ingest: no tree to read: name a ROOT, or set LLMB_WORKLOAD "
                 "or LLMB_INSTALL\n";
    return kBadArguments;
  }
  const bool has_all = !arguments.once || !leave_out_missing(options.roots);
  if (options.roots.empty()) return kFailed;
  auto push = push_options(arguments.push);
  if (!push) {
    std::cerr << "llmb-report ingest: " << push.error().message << '\n';
    return kBadArguments;
  }
  if (*push) {
    for (ingest::RootOptions& root : options.roots) root.cluster = (*push)->cluster;
  }
  if (!arguments.catalog_file.empty()) {
    auto catalog = read_catalog(arguments.catalog_file);
    if (!catalog) {
      std::cerr << "llmb-report ingest: " << catalog.error().message << '\n';
      return kBadArguments;
    }
    options.catalog = std::move(*catalog);
  }
  const auto known = check_gpu_type(options.catalog.get(), arguments.gpu_type);
  if (!known) {
    std::cerr << "llmb-report ingest: " << known.error().message << '\n';
    return kBadArguments;
  }
  for (ingest::RootOptions& root : options.roots) root.gpu_type = arguments.gpu_type;
  options.reads_anew = arguments.anew;
  options.database.allow_network_file_system = arguments.allow_network_file_system;
  try {
    options.database.path =
        arguments.database.empty() ? made_default_database_path() : arguments.database;
    const std::string database = options.database.path;
    begin_log(arguments.log_level);
    const StopSignals signals;
    if (*push) (*push)->database_path = database;
    ingest::Ingest ingest(std::move(options), {});
    std::optional<push::PushAgent> agent;
    if (*push) agent.emplace(**push);
    if (!arguments.once) return ingest_follow(ingest, agent ? &*agent : nullptr, signals);
    const int exit_code = ingest_once(ingest, arguments.anew, signals);
    if (!is_quiet()) {
      tell_removed(database, ingest.status());
      tell_earlier_readings(ingest.status(), arguments.anew);
    }
    if (exit_code > kSignalExit) return exit_code;
    const bool has_pushed = !agent || push_once(*agent, arguments.push, signals);
    return has_pushed && has_all ? exit_code : kFailed;
  } catch (const std::exception& error) {
    std::cerr << "llmb-report ingest: " << error.what() << '\n';
    return kFailed;
  }
}

}  // namespace

void add_ingest_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<IngestArguments>();
  CLI::App* const command =
      app.add_subcommand("ingest", "Read the logs of trees into a database, once or as they grow");
  command->add_flag("--once", arguments->once, "read what is there, and end");
  command->add_flag("--follow", arguments->follow, "go on reading until told to stop");
  command->add_flag("--anew", arguments->anew,
                    "also read again, from their start, the settled logs that an earlier version "
                    "told whose rules have changed since");
  command
      ->add_option("--db", arguments->database,
                   "the database: a file, or postgresql://USER@HOST/NAME (default: "
                   "llmb-report/llmb-report.db in $XDG_STATE_HOME, else in ~/.local/state)")
      ->type_name("FILE|URL");
  add_catalog_option(*command, arguments->catalog_file);
  add_left_open_gpu_option(*command, arguments->gpu_type);
  add_log_level_option(*command, arguments->log_level);
  command->add_flag("--allow-network-file-system", arguments->allow_network_file_system,
                    "keep the database on a file system that is not known to be local");
  add_push_options(*command, arguments->push);
  command
      ->add_option("--push-patience", arguments->push.patience_s,
                   "With --once --push: give up once the server took nothing for so many seconds")
      ->check(CLI::Range(std::int64_t{1}, kPushPatienceMaxS))
      ->capture_default_str()
      ->type_name("SECONDS");
  command->add_option("ROOT", arguments->roots,
                      "trees to read (default: $LLMB_WORKLOAD, else $STAGE_PATH, else every folder "
                      "in $LLMB_INSTALL/workloads)");
  command->footer(fmt::format(
      "Examples:\n"
      "  llmb-report ingest --once --db runs.db $LLMB_WORKLOAD\n"
      "  llmb-report ingest --follow /data/cluster-a /data/cluster-b\n"
      "  llmb-report ingest --follow --push https://reports.example --token-file eos.token \\\n"
      "    --cluster eos $LLMB_WORKLOAD\n"
      "What was read before is not read again, but with --anew: that reads from their start, the\n"
      "newest first and behind whatever is new, the logs that an earlier version told whose rules\n"
      "have changed since (`llmb-report doctor` counts them), once they have settled: their jobs\n"
      "have ended, or they have been silent for ten minutes or more. Each is replaced as a whole,\n"
      "so that it may be stopped, and goes on; runs keep their ids. A log that is gone, or whose\n"
      "text is longer than {}, stays as it is; --once says of how many, and why. Name the\n"
      "same trees, with the same options, as when they were read first.\n"
      "With --log-level off --once says nothing but what went wrong (as from a timer).\n"
      "Links inside a tree are not followed, but for `experiments` and `results` directly in it;\n"
      "one that leads out of it is named. With --push the database is the spool of what the\n"
      "server lacks: it may be away for days. --once ends when the server has all, or, with exit\n"
      "status 1, at once where it refuses the token, and where it took nothing for a minute\n"
      "(--push-patience). The server is `llmb-report serve --receive`, the\n"
      "token one of the scope ingest, and read anew each time.",
      ingest::whole_read_max_text()));
  command->callback([arguments, &exit_code] { exit_code = run_ingest(*arguments); });
}

}  // namespace llmb::cli
