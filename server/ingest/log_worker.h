// LogWorker: turns one ReadJob into what is to be committed. Each reader thread has its own, with
// its own read-only connection. Opens the file, closes it, keeps nothing about it but the text of a
// compressed one that is not read to its end yet.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "parser/statistics/judge_run.h"
#include "server/ingest/clock.h"
#include "server/ingest/job_end.h"
#include "server/ingest/log_tail.h"
#include "server/ingest/open_log.h"
#include "server/ingest/write_queue.h"
#include "storage/database.h"

namespace llmb::ingest {

class LogWorker {
 public:
  struct Links {  // all outlive the worker
    const parser::Catalog& catalog;
    const Clock& clock;
    const std::atomic<bool>& stop;
    std::atomic<std::uint64_t>& bytes_read;
    CallWatch& watch;
  };

  LogWorker(const std::string& database_path, Links links);  // throws StorageError

  // Never throws: what goes wrong is the outcome's.
  WorkResult work(const ReadJob& job);

 private:
  WorkResult read_log(const ReadJob& job);
  WorkResult read_from(const ReadJob& job, const OpenLog& log,
                       const std::optional<storage::LogCursor>& before);
  // Of a log whose runs were removed: the outcome, where it stands as it did then. Nothing: it is
  // to be read as a new one, in the generation that `job` has afterwards.
  std::optional<FileOutcome> removed_outcome(ReadJob& job, const OpenLog& log,
                                             const storage::RemovedLog& removed);
  // Where the log is as it was and its run needs no new verdict: nothing is read.
  std::optional<FileOutcome> unchanged_outcome(const ReadJob& job, const OpenLog& log,
                                               const storage::LogCursor& cursor,
                                               const std::optional<JobEnd>& job_end);
  TailOptions tail_options(const OpenLog& log) const;
  std::function<bool()> goes_on() const;  // while it unpacks a log
  SteadyTime silent_since_when(const ReadJob& job, const LogTail& tail) const;
  std::optional<parser::Silence> found_silence(const ReadJob& job, SteadyTime silent_since,
                                               double typical_s);
  // Of the newest steps, of `latest` and stored; 0 where none has a time.
  double typical_step_time_s(storage::RunId run, const std::vector<parser::StepSample>& latest);
  WorkResult configure(const ReadJob& job);
  WorkResult assemble(const ReadJob& job, const std::optional<storage::LogCursor>& before,
                      LogTail& tail, parser::RunPath path, const std::optional<JobEnd>& job_end);
  // `known_run`: whose stored steps are looked at beside those that were read just now; 0: none.
  parser::Judgement judge(LogTail& tail, const parser::RunConfiguration& configuration,
                          storage::RunId known_run, bool may_still_grow,
                          const std::optional<parser::Silence>& silence);
  storage::IngestBatch make_batch(const ReadJob& job, const FileOutcome& outcome, LogTail& tail,
                                  parser::RunPath path) const;
  std::vector<parser::StepSample> stored_steps(storage::RunId run, const parser::Window& window);
  parser::RunConfiguration configuration_of(const ReadJob& job, const parser::RunPath& path);
  // These three are in log_reread.cpp. Reads the log whole, or stores nothing and says why; one
  // that is no more as it was settled is read as ever.
  WorkResult reread(const ReadJob& job, const OpenLog& log, const storage::LogCursor& before);
  // What was told of the log's silence: by the same bytes it is not told anew.
  std::optional<parser::Silence> kept_silence(const storage::RunRecord& told,
                                              SteadyTime silent_since, double typical_s) const;
  // What is stored of the run that may come from nowhere else by now.
  static void keep_configuration(const storage::RunRecord& told, const ReadJob& job,
                                 parser::RunConfiguration& configuration);
  const parser::RunConfiguration& llmb_config(const ReadJob& job);

  storage::Reader database_;
  Links links_;

  LogTexts texts_;

  // The llmb-configs read last, by root and path: a hot log needs its own with every tick.
  struct ConfigFile {
    std::uint64_t inode = 0;
    std::int64_t changed_ns = 0;
    parser::RunConfiguration configuration;  // empty where the file could not be understood
  };
  std::unordered_map<std::string, ConfigFile> configs_;
};

}  // namespace llmb::ingest
