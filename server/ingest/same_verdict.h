// Whether what is stored of a run is what was judged now, so that nothing needs to be written.
#pragma once

#include <optional>
#include <string>

#include "parser/layout/run_configuration.h"
#include "parser/statistics/judge_run.h"
#include "storage/records.h"

namespace llmb::ingest {

// Marks follow from what is compared here, and from the configuration, which writes its own.
bool is_same_result(const storage::ListedResult& stored, const storage::ListedResult& now);

// False where the run's tree has a GPU of which this does not know, and nothing else says one. What
// a tree said once stays until the log is read again.
bool knows_gpu_type_of_root(const parser::RunConfiguration& stored, const std::string& of_root);

bool is_same_verdict(const std::optional<storage::RunRecord>& record,
                     const parser::RunConfiguration& configuration,
                     const parser::Judgement& judgement, const storage::ListedResult& listed);

}  // namespace llmb::ingest
