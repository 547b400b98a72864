// What the resources of one run share: its ETag, its summary over any window, and the refusal when
// there is no such run.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "server/api/context.h"
#include "server/api/refusal.h"
#include "storage/database.h"

namespace llmb::api {

// Reads one row. `question` tells the representations of one run apart. Throws Refusal (404).
std::string run_etag(Context& context, storage::RunId id, std::string_view question);

Refusal run_not_found(storage::RunId id);

// What ingest would say of a stored run over another window, the silence of a hung one included.
// `samples`: those inside the window at least.
parser::RunSummary summarize_stored_run(storage::Reader& reader, const storage::RunRecord& run,
                                        std::span<const parser::StepSample> samples,
                                        const parser::Window& window);

// The samples of a window are held at once: throws Refusal (400) where they may be too many.
void refuse_long_window(const parser::LogFacts& facts, const parser::Window& window);

}  // namespace llmb::api
