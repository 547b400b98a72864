// Retention: removes the runs that fit a daemon's retention policies, once a day, by ingest's
// writer, in small transactions with as long a rest after each: whoever waits for the writer waits
// for one of them at most. Begun anew, it goes on with what is left.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "storage/database.h"
#include "storage/removal.h"

namespace llmb::ingest {

// A policy as of that instant: an age is counted from it.
using RetentionRule = std::function<storage::RetentionPolicy(parser::Instant now)>;

struct RetentionStatus {
  std::optional<std::string> passed_at;  // when it last came to its end, RFC 3339 UTC
  bool is_removing = false;
  storage::RemovalCount removed;  // since the start
  std::string error;              // why it did not come to its end; empty when it did
};

class Retention {
 public:
  struct Links {
    std::string database_path;
    // Ingest::write.
    std::function<bool(std::function<void(storage::Writer&)>)> write;
    std::function<bool()> may_begin;   // the trees were read once
    std::function<void()> on_removed;  // some runs are gone; seldom, and at the end of each policy
  };
  Retention(std::vector<RetentionRule> rules, Links links);
  ~Retention();  // stops
  Retention(const Retention&) = delete;
  Retention& operator=(const Retention&) = delete;

  void start();
  void stop();                     // within a transaction; before ingest stops
  RetentionStatus status() const;  // thread-safe

 private:
  void run();
  void pass();
  void apply(const storage::RetentionPolicy& policy, parser::Instant now);
  // Nothing: it was stopped.
  std::optional<storage::RemovalCount> remove(const storage::RetentionPolicy& policy,
                                              const std::vector<storage::RunId>& logs,
                                              parser::Instant now);
  // True: it was stopped.
  bool rest(std::chrono::milliseconds pause);
  void fail(const char* error);

  const std::vector<RetentionRule> rules_;
  const Links links_;
  mutable std::mutex mutex_;
  std::condition_variable stopped_;
  bool is_stopping_ = false;
  RetentionStatus status_;
  std::thread thread_;
};

}  // namespace llmb::ingest
