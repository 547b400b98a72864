#include "server/ingest/committer.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <new>
#include <span>
#include <utility>

#include "server/ingest/memory_shortage.h"

namespace llmb::ingest {
namespace {

constexpr std::size_t kItemsAtOnce = 128;
constexpr std::chrono::milliseconds kRetryPause{1'000};
constexpr std::chrono::milliseconds kBetweenFileChecks{1'000};  // while nothing is to be written
constexpr std::chrono::milliseconds kBetweenNeighbourChecks{1'000};

// The batch itself is at fault; waiting will not help it, and others need not wait for it.
bool is_fault_of_the_data(const storage::StorageError& error) {
  return error.kind == storage::StorageError::Kind::constraint;
}

}  // namespace

Committer::Committer(storage::Writer& writer, WriteQueue& queue, StatusBoard& status,
                     std::size_t lane, std::function<void(const storage::RunChange&)> on_change,
                     std::function<void(storage::Writer&)> judge_vanished, bool halt_is_fatal)
    : writer_(writer),
      queue_(queue),
      status_(status),
      lane_(lane),
      on_change_(std::move(on_change)),
      judge_vanished_(std::move(judge_vanished)),
      halt_is_fatal_(halt_is_fatal) {}

// False: it was given up because of stop() or a fatal error. Throws what is the data's fault.
template <typename Operation>
bool Committer::until_it_succeeds(const Operation& operation) {
  if (!fatal_error_.empty()) return false;
  bool was_halted = false;
  while (true) {
    try {
      operation();
      if (was_halted) {
        spdlog::info("the database can be written again; ingest goes on");
        status_.set_halted(lane_, {});
      }
      return true;
    } catch (const storage::StorageError& error) {
      if (is_fault_of_the_data(error)) throw;
      if (error.kind == storage::StorageError::Kind::taken_over) {
        fatal_error_ = error.what();
        return false;
      }
      if (!was_halted) spdlog::error("ingest halts: {}", error.what());
      was_halted = true;
      if (!wait_before_retry(error.what())) return false;
    } catch (const std::bad_alloc&) {
      was_halted = true;
      if (!wait_before_retry("there is no memory left; ingest goes on once there is")) return false;
    }
  }
}

void Committer::run() {
  while (fatal_error_.empty()) {
    auto items =
        once_there_is_memory([&] { return queue_.pop_many(kItemsAtOnce, kBetweenFileChecks); });
    if (items.empty()) {
      if (queue_.is_over()) return;
      check_file();
    }
    check_neighbours();
    if (!items.empty() && fatal_error_.empty()) write(std::move(items));
    if (queue_.is_empty()) writer_.use_rest();
  }
  queue_.close(true);
}

void Committer::stop() {
  const std::lock_guard lock(mutex_);
  is_stopping_ = true;
  stopped_.notify_all();
}

void Committer::check_file() {
  until_it_succeeds([&] { writer_.check_file(); });
}

// Whoever reads a root once is soon done: others wait for that.
void Committer::check_neighbours() {
  const auto now = std::chrono::steady_clock::now();
  if (halt_is_fatal_ || now < neighbours_due_) return;
  neighbours_due_ = now + kBetweenNeighbourChecks;
  until_it_succeeds([&] { writer_.require_same_neighbours(); });
}

void Committer::write(std::vector<WriteItem> items) {
  std::vector<WorkResult> with_batch;
  once_there_is_memory([&] { with_batch.reserve(items.size()); });
  bool has_vanished = false;  // a log, or what it held before
  for (auto& item : items) {
    if (const auto* task = std::get_if<WriterTask>(&item)) {
      (*task)(writer_);
      tell_changes();
      continue;
    }
    auto* result = std::get_if<WorkResult>(&item);
    if (result == nullptr) {
      has_vanished = has_vanished || std::holds_alternative<VanishedFile>(item);
      write_note(item);
    } else if (result->batch) {
      has_vanished = has_vanished || result->batch->generation > 0;
      with_batch.push_back(std::move(*result));
    } else {
      write_configuration(std::move(*result));
    }
  }
  if (!with_batch.empty()) commit(std::move(with_batch));
  if (has_vanished) judge_vanished();
}

void Committer::judge_vanished() {
  try {
    until_it_succeeds([&] { judge_vanished_(writer_); });
  } catch (const storage::StorageError& error) {
    spdlog::error("what runs amount to whose logs are gone could not be stored: {}", error.what());
  }
  tell_changes();
}

void Committer::write_note(const WriteItem& item) {
  try {
    until_it_succeeds([&] {
      if (const auto* scan = std::get_if<ScanRecord>(&item)) {
        writer_.record_scan(scan->root, scan->scanned_at, scan->scan_s, scan->files_seen,
                            scan->error);
      } else if (const auto* vanished = std::get_if<VanishedFile>(&item)) {
        writer_.mark_vanished(vanished->root, vanished->relative_path, vanished->at);
      } else if (const auto* returned = std::get_if<ReturnedFile>(&item)) {
        writer_.mark_returned(returned->root, returned->relative_path);
      } else if (const auto* parked = std::get_if<storage::ParkedFile>(&item)) {
        writer_.park(*parked);
      } else if (const auto* unparked = std::get_if<UnparkedFile>(&item)) {
        writer_.unpark(unparked->root, unparked->relative_path);
      }
    });
  } catch (const storage::StorageError& error) {
    spdlog::error("a note about a file could not be stored: {}", error.what());
  }
  tell_changes();
}

void Committer::tell_changes() {
  had_memory_for([&] {
    for (const storage::RunChange& change : writer_.take_changes()) {
      if (on_change_) on_change_(change);
    }
  });
}

void Committer::commit(std::vector<WorkResult> results) {
  std::vector<storage::IngestBatch> batches;
  once_there_is_memory([&] { batches.reserve(results.size()); });
  for (auto& result : results) batches.push_back(std::move(*result.batch));
  std::vector<storage::RunId> runs;
  try {
    const bool is_done = until_it_succeeds([&] { runs = writer_.commit(batches); });
    if (!is_done) return;
  } catch (const storage::StorageError&) {
    for (std::size_t i = 0; i < results.size(); ++i) results[i].batch = std::move(batches[i]);
    commit_one_by_one(std::move(results));
    return;
  }
  tell_changes();
  std::int64_t samples = 0;
  for (const auto& batch : batches) samples += static_cast<std::int64_t>(batch.samples.size());
  status_.update([&](IngestStatus& status) { status.samples_committed += samples; });
  for (std::size_t i = 0; i < results.size(); ++i) report_committed(results[i], runs[i]);
}

void Committer::commit_one_by_one(std::vector<WorkResult> results) {
  for (auto& result : results) {
    const std::span<const storage::IngestBatch> batch(&*result.batch, 1);
    std::vector<storage::RunId> runs;
    try {
      if (!until_it_succeeds([&] { runs = writer_.commit(batch); })) return;
    } catch (const storage::StorageError& error) {
      report_failed(result, error.what());
      continue;
    }
    tell_changes();
    const auto samples = static_cast<std::int64_t>(batch[0].samples.size());
    status_.update([&](IngestStatus& status) { status.samples_committed += samples; });
    report_committed(result, runs[0]);
  }
}

void Committer::write_configuration(WorkResult result) {
  try {
    const bool is_done = until_it_succeeds([&] {
      writer_.update_configuration(result.outcome.memory.run, *result.configuration, result.listed);
    });
    if (!is_done) return;
  } catch (const storage::StorageError& error) {
    report_failed(result, error.what());
    return;
  }
  result.outcome.kind = FileOutcome::Kind::committed;
  tell_changes();
  result.reply_to->put(std::move(result.outcome));
}

void Committer::report_committed(WorkResult& result, storage::RunId run) {
  FileOutcome& outcome = result.outcome;
  if (run == 0) {  // it was removed meanwhile: the log is looked at anew
    outcome.kind = FileOutcome::Kind::postponed;
    result.reply_to->put(std::move(outcome));
    return;
  }
  outcome.memory.run = run;
  outcome.kind = FileOutcome::Kind::committed;
  result.reply_to->put(std::move(outcome));
}

void Committer::report_failed(WorkResult& result, const char* error) {
  result.outcome.kind = FileOutcome::Kind::failed;
  had_memory_for([&] { result.outcome.error = error; });
  result.reply_to->put(std::move(result.outcome));
}

bool Committer::wait_before_retry(const char* reason) {
  had_memory_for([&] { status_.set_halted(lane_, reason); });
  if (halt_is_fatal_) {
    fatal_error_ = reason;
    return false;
  }
  std::unique_lock lock(mutex_);
  return !stopped_.wait_for(lock, kRetryPause, [&] { return is_stopping_; });
}

}  // namespace llmb::ingest
