// The rows of removed_log, removed_run and removal_total. All functions run inside a transaction of
// the caller's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/connection.h"
#include "storage/retention_records.h"

namespace llmb::storage {

// Of a run that is about to be removed. Nothing is kept of a watched log that is gone, and of its
// older generations: they do not come again.
void keep_removed_log(Connection& connection, RunId run, const std::string& removed_at,
                      const std::string& policy);

// Of any run that is removed.
void keep_removed_run(Connection& connection, RunId run, const std::string& removed_at,
                      const std::string& policy);
std::optional<RemovedRun> find_removed_run(Connection& connection, RunId run);

// Of watched logs: there is at most one row of each.
std::optional<RemovedLog> find_removed_log(Connection& connection, RootId root,
                                           const std::string& relative_path);
std::vector<RemovedLog> read_removed_logs(Connection& connection);
// It is read again, or gone. Does nothing where there is none.
void forget_removed_log(Connection& connection, RootId root, const std::string& relative_path);

// Of a pushed log: each generation that was here by some store's word.
std::vector<RemovedLog> find_removed_pushed_logs(Connection& connection, RootId root,
                                                 const std::string& relative_path);
// Its store has said something of it that adds no bytes: so that both sides hold the same.
void update_removed_word(Connection& connection, RunId id, std::int64_t revision,
                         std::int64_t step_count);
void forget_removed_pushed_log(Connection& connection, RunId id);

void add_to_total(Connection& connection, const RemovalCount& count, RunId last_run,
                  const std::string& removed_at);
RemovalTotal read_removal_total(Connection& connection);

}  // namespace llmb::storage
