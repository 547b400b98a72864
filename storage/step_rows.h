// The steps of a run: rows of step_sample and step_field while its log grows, chunks
// (step_chunks.h) once it has settled. Which of them holds a step is nobody's concern but this
// file's: what is to be changed becomes rows first, and reading gives both, the chunks before the
// rows. Whoever reads does so in one transaction.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "parser/step_sample.h"
#include "parser/window.h"
#include "storage/connection.h"
#include "storage/push_records.h"
#include "storage/records.h"

namespace llmb::storage {

// Inserts, or replaces what has the same (segment, iteration). Returns how many rows are new.
// Within a transaction of the caller's.
std::int64_t upsert_steps(Connection& connection, RunId run,
                          std::span<const parser::StepSample> samples);

// The same of the steps of a run that has none yet, each once and in their order: as chunks where
// its log has settled, else as rows, in two thirds of the time.
void insert_steps(Connection& connection, RunId run, std::span<const parser::StepSample> samples,
                  bool are_settled);

// Packs what the run has in rows.
void settle_steps(Connection& connection, RunId run);
// The run has no step in a row.
bool are_settled(Connection& connection, RunId run);
// The first run behind `run` with rows; nothing: there is none.
std::optional<RunId> next_unsettled_run(Connection& connection, RunId run);

void delete_steps(Connection& connection, RunId run);
// Those that stand at `byte_offset` of the log or after it; returns how many. Looks at every step
// of the run.
std::int64_t delete_steps_from(Connection& connection, RunId run, std::uint64_t byte_offset);

// Those from (segment, iteration) on, in that order; returns how many. With their fields.
std::int64_t delete_steps_from_key(Connection& connection, RunId run, std::int64_t segment,
                                   std::int64_t iteration);
std::int64_t count_steps_before(Connection& connection, RunId run, StepKey key);
// Of the first step that stands at `byte_offset` of the log or after it; for whoever changes it.
std::optional<StepKey> first_step_from_offset(Connection& connection, RunId run,
                                              std::uint64_t byte_offset);
// The first `limit` from (segment, iteration) on.
std::vector<parser::StepSample> read_steps_from(Connection& connection, RunId run,
                                                std::int64_t segment, std::int64_t iteration,
                                                std::int64_t limit);

using StepVisitor = std::function<void(parser::StepSample&&)>;

// Ordered by (segment, iteration), few steps in memory at a time; one range scan of the key for
// each segment in a window. With a segment: only that one.
void visit_steps(Connection& connection, RunId run, const std::optional<parser::Window>& window,
                 std::optional<std::int32_t> segment, const StepVisitor& visit);

// Of the last `count` steps, those that have one: a seek in each key.
std::vector<double> latest_step_times_s(Connection& connection, RunId run, std::int64_t count);

}  // namespace llmb::storage
