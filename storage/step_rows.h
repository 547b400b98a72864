// StepSample <-> rows of step_sample and step_field.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "parser/step_sample.h"
#include "parser/window.h"
#include "storage/connection.h"
#include "storage/records.h"

namespace llmb::storage {

// Inserts, or replaces what has the same (segment, iteration). Returns how many rows are new.
// Within a transaction of the caller's.
std::int64_t upsert_steps(Connection& connection, RunId run,
                          std::span<const parser::StepSample> samples);

// The same of steps that are not stored yet, each once: in two thirds of the time.
void insert_steps(Connection& connection, RunId run, std::span<const parser::StepSample> samples);

void delete_steps(Connection& connection, RunId run);
// Those that stand at `byte_offset` of the log or after it; returns how many. Looks at every step
// of the run.
std::int64_t delete_steps_from(Connection& connection, RunId run, std::uint64_t byte_offset);

// Those from (segment, iteration) on, in that order; returns how many. With their fields.
std::int64_t delete_steps_from_key(Connection& connection, RunId run, std::int64_t segment,
                                   std::int64_t iteration);
// The first `limit` of them.
std::vector<parser::StepSample> read_steps_from(Connection& connection, RunId run,
                                                std::int64_t segment, std::int64_t iteration,
                                                std::int64_t limit);

using StepVisitor = std::function<void(parser::StepSample&&)>;

// Ordered by (segment, iteration), one step in memory at a time; one range scan of the key for
// each segment in a window. With a segment: only that one.
void visit_steps(Connection& connection, RunId run, const std::optional<parser::Window>& window,
                 std::optional<std::int32_t> segment, const StepVisitor& visit);

// Of the last `count` steps, those that have one: one seek in the key.
std::vector<double> latest_step_times_s(Connection& connection, RunId run, std::int64_t count);

}  // namespace llmb::storage
