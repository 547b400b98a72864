// A database of its own for one test, removed with it, and records to fill it with. It is an SQLite
// file in a folder of its own; where LLMB_TEST_POSTGRESQL is the URL of a server's database, it is
// another database of that server, so that the same tests show that both engines do the same.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "storage/database.h"
#include "tests/storage/execute_sql.h"
#include "tests/temporary_folder.h"

namespace llmb::storage {

class TemporaryDatabase {
 public:
  TemporaryDatabase() {
    if (server_.empty()) return;
    static int made = 0;
    name_ = "llmb_test_" + std::to_string(getpid()) + "_" + std::to_string(++made);
    // Copying the template's files takes less than half of what logging its pages does.
    execute_sql_at_server(server_,
                          no_longer_needed_ + "CREATE DATABASE " + name_ + " STRATEGY FILE_COPY");
    no_longer_needed_.clear();
  }
  ~TemporaryDatabase() {
    if (!server_.empty()) no_longer_needed_ += "DROP DATABASE " + name_ + " WITH (FORCE);\n";
  }
  TemporaryDatabase(const TemporaryDatabase&) = delete;
  TemporaryDatabase& operator=(const TemporaryDatabase&) = delete;

  std::string folder() const { return folder_.path(); }
  // Of the file, or the URL.
  std::string path() const {
    if (server_.empty()) return folder_.file("llmb.db");
    const std::size_t name = server_.find("/postgres?");
    return server_.substr(0, name + 1) + name_ + server_.substr(server_.find('?'));
  }
  // At a server.
  const std::string& name() const { return name_; }
  OpenOptions options() const { return OpenOptions{path(), false}; }

 private:
  static std::string server() {
    const char* const url = std::getenv("LLMB_TEST_POSTGRESQL");
    return url == nullptr ? "" : url;
  }
  // Statements that remove earlier tests' databases: done with the next one's, as a program that
  // connects takes longer than they do. The last goes with its server.
  static inline std::string no_longer_needed_;
  TemporaryFolder folder_;
  std::string server_ = server();
  std::string name_;
};

inline parser::StepSample make_step(std::int64_t iteration, double step_time_s,
                                    std::int32_t segment = 0) {
  parser::StepSample sample;
  sample.segment = segment;
  sample.iteration = iteration;
  sample.step_time_s = step_time_s;
  sample.step_time_resolution_s = 0.0005;
  sample.byte_offset = static_cast<std::uint64_t>(iteration) * 100;
  return sample;
}

// A run of `step_count` steps from iteration 0.
inline IngestBatch make_batch(RootId root, const std::string& relative_path, int step_count = 0) {
  IngestBatch batch;
  batch.root_id = root;
  batch.relative_path = relative_path;
  batch.observed_at = "2026-01-02T03:04:05Z";
  batch.size_bytes = static_cast<std::uint64_t>(step_count) * 100;
  batch.cursor.offset = batch.size_bytes;
  batch.facts.bytes_read = batch.size_bytes;
  batch.facts.dialect = parser::Dialect::nemo;
  batch.path.experiment = "experiment_of_" + relative_path;
  batch.summary.status = parser::RunStatus::running;
  batch.summary.status_reason = "still growing";
  batch.summary.window = {11, 44};
  for (int i = 0; i < step_count; ++i) batch.samples.push_back(make_step(i, 1.0 + i * 0.25));
  return batch;
}

}  // namespace llmb::storage
