// Stored runs, judged: over the window that was asked for, or over that of their recipe's document.
// A window whose statistics are stored costs no step to be read.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parser/result.h"
#include "parser/statistics/run_comparison.h"
#include "storage/database.h"

namespace llmb::report {

// What ingest would say of the run over the window, its silence included. `run` may
// be of a list. Error: the window may hold more steps than are held at once. Pointers in the
// result live as long as the catalog.
parser::Result<parser::Judgement> judge_stored_run(storage::Reader& reader,
                                                   const storage::RunRecord& run,
                                                   const parser::Catalog& catalog,
                                                   const parser::JudgingOptions& options);

// The same of a whole run whose steps are at hand: `samples` are those inside the window at least.
parser::Judgement judge_stored_run(storage::Reader& reader, const storage::RunRecord& run,
                                   std::span<const parser::StepSample> samples,
                                   const parser::Catalog& catalog,
                                   const parser::JudgingOptions& options);

// As comparisons want it. Without `asked`: over the run's stored window. Errors and `run` as above.
// `without`: see JudgingOptions. What the run is held against its published result with is over its
// own window and with every step, whatever was asked for.
parser::Result<parser::ComparedRun> measure_stored_run(
    storage::Reader& reader, const storage::RunRecord& run, const parser::Catalog& catalog,
    const std::optional<parser::AskedWindow>& asked,
    const parser::StepInterruptionSet& without = {});

// The same of a run that could not be measured, which is left out for that reason: without data in
// the window.
parser::ComparedRun unmeasured_run(storage::Reader& reader, const storage::RunRecord& run,
                                   const parser::Catalog& catalog,
                                   const std::optional<parser::AskedWindow>& asked,
                                   const std::string& why);

// Of a stored run, wherever its log lies. By bytes: of the hash of all that was read of it. By
// times: equal for logs that begin alike and are equal in size and in every statistic of their
// window's step times; of a few steps these tell nothing.
parser::ContentKey content_key_of(storage::Reader& reader, const storage::RunRecord& run);

// The runs of a list whose logs have the bytes of another run's: the run that counts for both, the
// first of them that is complete and has no mark, or else the first. Only those are found whose
// windows are alike, and that are no superseded runs.
using Originals = std::map<storage::RunId, storage::RunId>;
Originals originals_of(storage::Reader& reader, std::span<const storage::RunRecord> runs);
// Nothing where the run has none.
std::optional<storage::RunId> original_in(const Originals& originals, storage::RunId run);

// What runs of the workload may call it, for a filter: its name and all aliases. A name that the
// catalog does not know stands for itself; the empty one for every run.
std::vector<std::string> names_of_workload(const parser::Catalog& catalog,
                                           const std::string& workload);

// What a filter by this dtype asks for: a coarse one ("fp8") stands for the fine ones ("fp8_cs")
// too, and case does not count, as in RunSelection.
std::vector<std::string> names_of_dtype(const std::string& dtype);

// The newest complete runs of `tested`'s workload, or of all where it does not say one, and before
// them the newest of its model, dtype, GPU and scale: what they teach of the noise between runs,
// each over its own window with every step, whatever was asked of `tested`; so it stands for
// published_noise_runs() as well. `tested` has its cluster's name (name_clusters()).
std::vector<parser::NoiseRun> own_window_noise_runs(storage::Reader& reader,
                                                    const parser::Catalog& catalog,
                                                    const parser::ComparedRun& tested);

}  // namespace llmb::report
