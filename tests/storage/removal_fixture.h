// Logs of several clusters and years, and their removal by a policy.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "storage/removal.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {

inline const parser::Instant kNow = *parser::parse_instant("2026-06-01T00:00:00Z");

inline IngestBatch log_of(RootId root, const std::string& path, const std::string& grown_at,
                          int steps = 2) {
  IngestBatch batch = make_batch(root, path, steps);
  batch.observed_at = grown_at;
  batch.summary.status = parser::RunStatus::complete;
  batch.cursor.inode = 7;
  batch.cursor.head_hash = 11;
  batch.cursor.head_length = 100;
  return batch;
}

inline RetentionPolicy older_than_2025() {
  RetentionPolicy policy;
  policy.words = "older than 2025-01-01";
  policy.grown_before = "2025-01-01T00:00:00Z";
  return policy;
}

inline RemovalCount remove_all(const std::string& place, Writer& writer,
                               const RetentionPolicy& policy, parser::Instant now = kNow) {
  Removal removal(Reader(place).removal_plan(policy, now));
  RemovalCount count;
  for (auto logs = removal.next(); !logs.empty(); logs = removal.next()) {
    const RemovalCount some = writer.remove_logs(policy, logs, now);
    count.runs += some.runs;
    count.steps += some.steps;
    count.log_text_bytes += some.log_text_bytes;
  }
  return count;
}

}  // namespace llmb::storage
