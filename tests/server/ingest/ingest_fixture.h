// A tree of logs in a temporary folder, an Ingest on it, and a clock that tests move.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/ingest/ingest.h"
#include "tests/temporary_folder.h"

namespace llmb::ingest {

// Stands still until it is moved. Begins now, because files carry the system's time.
class ManualClock : public Clock {
 public:
  SteadyTime steady() const override { return SteadyTime(std::chrono::hours(1)) + moved(); }
  WallTime wall() const override {
    return start_ + moved() + std::chrono::milliseconds(set_by_ms_.load());
  }
  void move(std::chrono::milliseconds by) { moved_ms_ += by.count(); }
  // Somebody sets the machine's clock; no time passes.
  void set_wall(std::chrono::milliseconds by) { set_by_ms_ += by.count(); }

 private:
  std::chrono::milliseconds moved() const { return std::chrono::milliseconds(moved_ms_.load()); }
  // A little ahead, so that files written at the start of a test are not in its future.
  const WallTime start_ = std::chrono::system_clock::now() + std::chrono::seconds(5);
  std::atomic<std::int64_t> moved_ms_ = 0;
  std::atomic<std::int64_t> set_by_ms_ = 0;
};

// Asks until it is so, for at most twenty seconds.
bool eventually(const std::function<bool()>& condition);

// `count` lines of a NeMo log, from `first`, that means to reach `last`.
std::string nemo_lines(int first, int count, int last = 49, double step_time_s = 7.5);

class TreeTest : public testing::Test {
 protected:
  TreeTest();

  std::string tree_path(const std::string& relative = {}) const;
  void write(const std::string& relative, const std::string& content);
  void append(const std::string& relative, const std::string& content);
  // As if it had been written that long ago.
  void set_age(const std::string& relative, std::chrono::seconds age);

  IngestOptions options() const;
  // One --once over the tree; returns its status.
  IngestStatus ingest_once();
  IngestStatus ingest_once(IngestOptions options);
  // The newest generation's run of a log.
  std::optional<storage::RunRecord> run_of(const std::string& relative);
  std::vector<parser::StepSample> steps_of(const std::string& relative);

  const TemporaryFolder temporary_;
  const std::filesystem::path& folder_ = temporary_.path();
  std::string database_ = temporary_.file("runs.db");
  const std::string tree_ = temporary_.file("tree");
};

}  // namespace llmb::ingest
