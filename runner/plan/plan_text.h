// The plan of a run as text, as --dry-run prints it: model, layout and groups, what every pipeline
// stage holds, schedule, model FLOPs and the floor of a step on the named GPU.
#pragma once

#include <string>

#include "runner/plan/step_floor.h"
#include "runner/trainer/memory_use.h"

namespace llmb::runner {

std::string plan_text(const RunSettings& settings, const MemoryPlan& plan, const GpuRates& rates);

// Why no run of it starts on such GPUs: they have none of the products that are asked for. Mostly
// empty.
std::string lack_of_blocks(const RunSettings& settings, const GpuRates& rates);

// The stages' table alone; bytes in GiB.
std::string memory_table(const RunSettings& settings, const MemoryPlan& plan);

// Where the plan does not fit: by how much, and the largest proxy of the same layout that does.
std::string does_not_fit_text(const RunSettings& settings, const MemoryPlan& plan,
                              std::int64_t capacity_bytes, const std::string& capacity_name);

// The end of a line about graphs: what a rank of this stage has given for them, and what was
// planned.
std::string graph_memory_text(const RunSettings& settings, std::int64_t device_bytes, int stage);

// Lines of what `library`, by which ranks talk, takes of rank 0's device beside the arena, by what
// was free there before and is now: to join its communicators, beside what was planned for them;
// and by the end, as first calls make more, with what the driver keeps of graphs.
std::string joined_text(const RunSettings& settings, int communicators, const std::string& library,
                        std::int64_t free_before, std::int64_t free_now);
std::string taken_at_the_end_text(std::int64_t free_before, std::int64_t free_now);

// A line: that a rank's experts got so many rows of a micro-batch, which are more than planned.
std::string expert_rows_text(const RunSettings& settings, std::int64_t rows, int rank,
                             std::int64_t step);

// Where a run on a device needs more memory than it has: `why` in the words of who asked for it,
// and what the rank held beside what was planned.
std::string ran_out_text(const RunSettings& settings, const MemoryUse& use, int stage, int rank,
                         const std::string& why);

// One line: what a rank of this stage held, and what was planned.
std::string memory_use_text(const RunSettings& settings, const MemoryUse& use, int stage);

}  // namespace llmb::runner
