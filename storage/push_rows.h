// The rows that pushing needs beside those of runs: on a server whose word a run is (pushed_run,
// push_agent), in an agent's database what the server has (push_state). All functions run inside a
// transaction of the caller's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/connection.h"
#include "storage/push_records.h"

namespace llmb::storage {

// A server's.

RootId pushed_root(Connection& connection, const std::string& cluster, const std::string& path);

// What becomes of a telling; only one that is `taken` is to be written.
struct PushDecision {
  PushVerdict verdict = PushVerdict::taken;
  std::int64_t revision = 0;
  std::int64_t step_count = 0;
  RunId run = 0;                 // that the telling is about; 0: a new one
  std::int64_t generation = 0;   // of that run here
  bool is_first_of_log = false;  // nothing is held of any generation
  RunId removed = 0;  // the row of removed_log that goes, because its log has grown; 0: none
};
PushDecision decide_on(Connection& connection, RootId root, const PushSender& sender,
                       const LogTelling& log);
// The same of a log of which nothing is held, and nothing was removed.
PushDecision decide_on_new(const LogTelling& log);
// As who watched the log would write it.
// It has the log's configuration, facts, verdict and steps then.
IngestBatch take_batch_of(LogTelling& log, RootId root, std::int64_t generation);

void write_pushed_run(Connection& connection, RunId run, const PushSender& sender,
                      const LogTelling& log);
// When the log was seen first, grew last and was found gone, as the store says.
void write_pushed_times(Connection& connection, RunId run, const RunRecord& told);

void write_push_agent(Connection& connection, const PushAgentRecord& agent);
// Does nothing where there is no such agent. What it told stays, and any other store may take over.
void erase_push_agent(Connection& connection, const std::string& store_id);
// Those that lack something, or have spoken at `seen_since` or later.
std::vector<PushAgentRecord> read_push_agents(Connection& connection,
                                              const std::string& seen_since);
std::vector<HeldLog> read_held_logs(Connection& connection, const std::string& store_id,
                                    const std::string& cluster, RunId after, std::int64_t limit);

// An agent's.

// Steps of the run have changed, from that one on. Does nothing for a run that was never sent.
void mark_steps_changed(Connection& connection, RunId run, StepKey from);

}  // namespace llmb::storage
