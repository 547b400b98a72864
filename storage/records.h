// Rows as domain records: what storage gives and takes. No SQL here, and no SQLite names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parser/layout/profile_name.h"
#include "parser/layout/run_configuration.h"
#include "parser/layout/run_path.h"
#include "parser/log_facts.h"
#include "parser/statistics/run_identity.h"
#include "parser/statistics/run_marks.h"
#include "parser/statistics/run_summary.h"
#include "parser/step_sample.h"
#include "storage/packed_chunk.h"

namespace llmb::storage {

using RootId = std::int64_t;
using RunId = std::int64_t;

// One watched tree.
struct RootRecord {
  RootId id = 0;
  std::string path;                         // canonical
  std::string cluster;                      // a name the user gave; empty by default
  std::optional<std::string> last_scan_at;  // RFC 3339 UTC
  std::optional<double> last_scan_s;        // how long it took
  std::int64_t files_seen = 0;
  std::string error;        // why the last scan failed; empty when it did not
  std::string pushed_from;  // the cluster whose agents push it; empty: it is watched here
};

// How far a file has been read. Commits together with the rows that reading produced.
struct LogCursor {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  // Up to 1 KiB of what was there at first sight, and up to 256 bytes before `offset`.
  std::uint64_t head_hash = 0;
  std::uint32_t head_length = 0;
  std::uint64_t tail_hash = 0;
  std::uint32_t tail_length = 0;
  std::uint64_t offset = 0;  // end of the last complete line
  std::string parser_state;  // LogReader::save_state() at `offset`
  bool operator==(const LogCursor&) const = default;
};

// Hashes of a log's first and of its last committed bytes.
struct LogEnds {
  std::uint64_t head_hash = 0;  // 0: not known
  std::uint32_t head_length = 0;
  std::optional<std::uint64_t> tail_hash;  // nothing: not known, as of a pushed log
};

// An Nsight Systems profile beside a run's log.
struct ProfileFile {
  std::string relative_path;
  std::uint64_t size_bytes = 0;
  parser::ProfileName name;  // its job id is not kept: it is the run's
  bool operator==(const ProfileFile&) const = default;
};

// What lists show, sort and filter of a run beside its summary: what the catalog makes of it over
// the stored window, and why it is no result like others.
struct ListedResult {
  // As the catalog names it; as the run's configuration says, where none is derived yet.
  parser::RunIdentity identity;
  std::optional<double> tokens_per_s_per_gpu;
  std::optional<double> mfu;
  std::optional<double> speed_against_reference;
  // Of those in listed_marks.h. Storage adds `profiled` by itself, from profiles and configuration.
  parser::RunMarkSet marks;
  std::optional<std::uint64_t> catalog_hash;  // nothing: not derived yet
  bool has_run_all_steps = false;             // parser::has_run_all_steps()
  bool operator==(const ListedResult&) const = default;
};

// One log, in one generation of its file. `revision` rises with every change of the run.
struct RunRecord {
  RunId id = 0;
  RootId root_id = 0;
  std::string relative_path;
  std::int64_t generation = 0;  // 0, then one more each time the file was rewritten
  bool is_superseded = false;   // an older generation
  std::int64_t revision = 0;
  std::string first_seen_at;               // RFC 3339 UTC
  std::string grown_at;                    // when bytes were last added, RFC 3339 UTC
  std::optional<std::string> vanished_at;  // when the file was found gone; its data stays
  std::uint64_t size_bytes = 0;
  // What the list filters by: the name the user gave the root, else what llmb-config says.
  std::optional<std::string> cluster;
  parser::RunPath path;  // its configuration is not filled; see below
  parser::RunConfiguration configuration;
  parser::LogFacts facts;
  parser::RunSummary summary;  // over the run's default window
  std::string window_source;   // why that one; see judge_run.h
  std::optional<std::int64_t> logged_global_batch_size;
  ListedResult listed;
  std::int64_t step_count = 0;  // samples stored, all segments
  std::int64_t reading = 0;     // by which it was told; parser/reader/reading.h
  // A profiler slowed the run: profiles lie beside its log, or its configuration says so.
  bool is_profiled = false;
  std::vector<ProfileFile> profiles;
};

// What one tick of ingest learned about one file. Commits as a whole or not at all.
struct IngestBatch {
  RootId root_id = 0;
  std::string relative_path;
  std::int64_t generation = 0;
  std::string observed_at;  // RFC 3339 UTC; becomes grown_at when there are new bytes
  std::uint64_t size_bytes = 0;
  LogCursor cursor;
  parser::RunPath path;
  parser::RunConfiguration configuration;
  parser::LogFacts facts;
  parser::RunSummary summary;
  std::string window_source;
  std::optional<std::int64_t> logged_global_batch_size;
  ListedResult listed;
  // New samples, and amended ones: (segment, iteration) replaces what is stored.
  std::vector<parser::StepSample> samples;
  // The same, in their order, where the log is settled and these are all its steps; empty: whoever
  // stores them packs them.
  std::vector<PackedChunk> packed_samples;
  // Nothing: leaves those that are stored.
  std::optional<std::vector<ProfileFile>> profiles;
  // The log was read anew from its start in the same generation (its parser state could not be
  // restored, or somebody asked for it): the samples stored before are dropped in the same
  // transaction.
  bool replaces_all_samples = false;
  // By which reading all of it is told (parser/reader/reading.h). Nothing: it goes on behind what
  // an earlier reading may have told, whose run keeps its number.
  std::optional<std::int64_t> reading;
  // The run was there when the log was read: where it was removed meanwhile there is nothing to
  // store.
  bool continues_run = false;
  // Steps that were stored from here on came of a last line without its end, which has been read
  // anew: they are dropped in the same transaction.
  std::optional<std::uint64_t> drops_steps_from;
  // No more of the log is awaited: its steps are packed (step_rows.h). What comes after all is
  // taken as ever.
  bool is_settled = false;
};

// A file that cannot be ingested just now.
struct ParkedFile {
  RootId root_id = 0;
  std::string relative_path;
  std::string reason;
  std::string parked_at;  // RFC 3339 UTC
  std::string retry_at;   // RFC 3339 UTC
  std::int64_t failures = 0;
};

}  // namespace llmb::storage
