// How soon ingest shows what changes in a large tree, and what it costs while nothing does. Makes a
// tree of settled logs that are days old, lets an Ingest read it, and then, one kind after the
// other: appends to logs, puts new logs into folders that are there, makes new folders in launches
// that are there, and new launches. Each change is timed until the writer has committed it, while
// the next ones are made. Prints percentiles, and the processor time of a quiet minute as a share
// of one core.
//
//   lag_bench [LOGS] [CHANGES_OF_A_KIND] [WATCHES]     20,000, 200 and the default of ingest
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "parser/foundation/content_hash.h"
#include "server/ingest/ingest.h"
#include "server/sample/log_lines.h"
#include "storage/database.h"
#include "tests/bench/processor_time.h"
#include "tests/temporary_folder.h"

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using llmb::storage::RunChange;

constexpr int kLaunchesOfAnExperiment = 200;
constexpr std::chrono::hours kAge{100};
constexpr std::chrono::seconds kSettlesFor{60};  // watches go where they are wanted
constexpr std::chrono::seconds kQuietFor{60};
constexpr std::chrono::seconds kPatience{120};
constexpr std::chrono::milliseconds kMeanPause{75};  // between two changes

std::string step_lines(int first, int count) {
  std::string text;
  for (int i = first; i < first + count; ++i) {
    llmb::sample::StepFigures step;
    step.index = i;
    step.step_count = 50;
    step.step_time_s = 7.5;
    step.tflops_per_gpu = 800;
    step.loss = 10 - 0.01 * i;
    step.global_batch_size = 128;
    text += llmb::sample::nemo_line(step);
  }
  return text;
}

void append(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::app) << text;
}

void make_old(const fs::path& path) {
  const auto then = std::chrono::system_clock::now() - kAge;
  const timespec time{std::chrono::system_clock::to_time_t(then), 0};
  const timespec times[2] = {time, time};
  utimensat(AT_FDCWD, path.c_str(), times, 0);
}

// As the recipes have it: experiment, launch, experiment again, logs.
fs::path launch_folder(const fs::path& tree, int number) {
  const std::string name = "pretrain_grok1_314b_fp8_gpus" +
                           std::to_string(8 * (1 + number / kLaunchesOfAnExperiment)) +
                           "_tp4_pp8_cp2_vp8_ep8_etp1_mbs1_gbs1024";
  return tree / "experiments" / name / (name + '_' + std::to_string(1'700'000'000 + number)) / name;
}

fs::path log_of(const fs::path& folder, int number) {
  return folder / ("log-acct." + folder.filename().string() + '_' +
                   std::to_string(100'000 + number) + "_0.out");
}

void make_tree(const fs::path& tree, int logs) {
  const std::string text = step_lines(0, 3);
  for (int i = 0; i < logs; ++i) {
    const fs::path folder = launch_folder(tree, i);
    fs::create_directories(folder);
    append(log_of(folder, i), text);
    make_old(log_of(folder, i));
    make_old(folder);
    make_old(folder.parent_path());
    make_old(folder.parent_path().parent_path());
  }
}

// When the writer committed changes, by run.
class Changes {
 public:
  struct Change {
    llmb::storage::RunId run = 0;
    Clock::time_point at;
  };
  void note(const RunChange& change) {
    if (change.kind == RunChange::Kind::status) return;
    const std::lock_guard lock(mutex_);
    changes_.push_back({change.run, Clock::now()});
  }
  std::vector<Change> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(changes_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<Change> changes_;
};

// Changes that were made and not seen yet, by the log's path below the tree.
using Waiting = std::map<std::string, Clock::time_point>;

void take_changes(Changes& changes, const std::string& database, Waiting& waiting,
                  std::vector<double>& lags_s) {
  const auto taken = changes.take();
  if (taken.empty()) return;
  llmb::storage::Reader reader(database);
  for (const Changes::Change& change : taken) {
    const auto run = reader.run(change.run);
    const auto made = run ? waiting.find(run->relative_path) : waiting.end();
    if (made == waiting.end() || change.at < made->second) continue;
    lags_s.push_back(std::chrono::duration<double>(change.at - made->second).count());
    waiting.erase(made);
  }
}

struct Bench {
  fs::path tree;
  std::string database;
  int count;  // changes of a kind
  Changes changes;
};

// `make_change(i, random)` gives the path of the log that it changed.
template <typename MakeChange>
void measure(const char* kind, Bench& bench, MakeChange make_change) {
  // Each kind has its own: what one kind touched has a watch afterwards.
  std::mt19937 random(static_cast<unsigned>(llmb::parser::fnv1a(kind)));
  std::uniform_int_distribution<int> pause_ms(0, 2 * kMeanPause.count());
  Waiting waiting;
  std::vector<double> lags_s;
  const auto see = [&] { take_changes(bench.changes, bench.database, waiting, lags_s); };
  for (int i = 0; i < bench.count; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms(random)));
    const auto began = Clock::now();
    const fs::path log = make_change(i, random);
    waiting.emplace(log.lexically_relative(bench.tree).string(), began);
    see();
  }
  const auto give_up_at = Clock::now() + kPatience;
  while (!waiting.empty() && Clock::now() < give_up_at) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    see();
  }
  std::sort(lags_s.begin(), lags_s.end());
  const auto at = [&](double share) {
    const auto last = static_cast<double>(lags_s.size() - 1);
    return lags_s.empty() ? 0.0 : lags_s[static_cast<std::size_t>(share * last)];
  };
  std::printf("%-30s %5zu   p50 %7.3f s   p95 %7.3f s   max %7.3f s   never %zu\n", kind,
              lags_s.size() + waiting.size(), at(0.5), at(0.95), at(1), waiting.size());
  std::fflush(stdout);
}

void wait_until_read(const llmb::ingest::Ingest& ingest) {
  while (true) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    const auto status = ingest.status();
    if (status.first_scan_done && status.files_pending == 0) return;
  }
}

void measure_all(Bench& bench, int logs) {
  std::uniform_int_distribution<int> any_log(0, logs - 1);
  measure("old logs that grow", bench, [&](int i, std::mt19937& random) {
    const int number = any_log(random);
    fs::path log = log_of(launch_folder(bench.tree, number), number);
    append(log, step_lines(3 + i % 40, 1));
    return log;
  });
  measure("new logs in old folders", bench, [&](int i, std::mt19937& random) {
    fs::path log = log_of(launch_folder(bench.tree, any_log(random)), logs + i);
    append(log, step_lines(0, 1));
    return log;
  });
  measure("new folders in old launches", bench, [&](int i, std::mt19937& random) {
    const fs::path launch = launch_folder(bench.tree, any_log(random)).parent_path();
    const fs::path folder = launch / ("again_" + std::to_string(i));
    fs::create_directory(folder);
    append(log_of(folder, 3 * logs + i), step_lines(0, 1));
    return log_of(folder, 3 * logs + i);
  });
  measure("new launches", bench, [&](int i, std::mt19937&) {
    const int number = 2 * logs + i;
    const fs::path folder = launch_folder(bench.tree, number);
    fs::create_directories(folder);
    append(log_of(folder, number), step_lines(0, 1));
    return log_of(folder, number);
  });
  measure("logs that are being written", bench, [&](int i, std::mt19937&) {
    const int number = 2 * logs + i;
    fs::path log = log_of(launch_folder(bench.tree, number), number);
    append(log, step_lines(1, 1));
    return log;
  });
}

int run(int argc, char** argv) {
  const int logs = argc > 1 ? std::atoi(argv[1]) : 20'000;
  const llmb::TemporaryFolder folder;
  Bench bench{
      folder.path() / "tree", folder.file("runs.db"), argc > 2 ? std::atoi(argv[2]) : 200, {}};
  make_tree(bench.tree, logs);
  llmb::ingest::IngestOptions options;
  options.roots = {{bench.tree.string(), {}}};
  options.database.path = bench.database;
  options.database.allow_network_file_system = true;
  if (argc > 3) options.directory_watches_max = static_cast<std::size_t>(std::atoll(argv[3]));
  llmb::ingest::Ingest ingest(options,
                              [&](const RunChange& change) { bench.changes.note(change); });
  const auto began = Clock::now();
  ingest.start();
  wait_until_read(ingest);
  std::printf("%d logs read in %.0f s, %.0f s of processor time\n", logs,
              std::chrono::duration<double>(Clock::now() - began).count(),
              llmb::bench::processor_s(RUSAGE_SELF));
  std::fflush(stdout);
  std::this_thread::sleep_for(kSettlesFor);
  const double quiet_begin_s = llmb::bench::processor_s(RUSAGE_SELF);
  std::this_thread::sleep_for(kQuietFor);
  std::printf("idle: %.2f %% of a core\n",
              100 * (llmb::bench::processor_s(RUSAGE_SELF) - quiet_begin_s) /
                  std::chrono::duration<double>(kQuietFor).count());
  std::fflush(stdout);
  bench.changes.take();
  measure_all(bench, logs);
  ingest.stop();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv);
}
