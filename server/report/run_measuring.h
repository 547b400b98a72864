// A stored run as comparisons want it: measured over the window asked for, and over that of its
// recipe's document.
#pragma once

#include <optional>
#include <span>

#include "parser/result.h"
#include "parser/statistics/run_comparison.h"
#include "storage/database.h"

namespace llmb::report {

// The samples of a window are held at once. Error: there may be too many of them.
parser::Result<void> check_window_size(const parser::LogFacts& facts, const parser::Window& window);

// What ingest would say of a stored run over another window, the silence of a hung one included.
// `samples`: those inside the window at least.
parser::RunSummary summarize_stored_run(storage::Reader& reader, const storage::RunRecord& run,
                                        std::span<const parser::StepSample> samples,
                                        const parser::Window& window);

// Without `asked`: the run's default window, whose statistics are stored; no step is read, unless
// another catalog than ingest's chooses another window. `run` may be of a list. Error: the window
// may hold too many steps. Pointers in the result live as long as the catalog.
parser::Result<parser::ComparedRun> measure_stored_run(
    storage::Reader& reader, const storage::RunRecord& run, const parser::Catalog& catalog,
    const std::optional<parser::AskedWindow>& asked);

}  // namespace llmb::report
