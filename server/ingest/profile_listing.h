// The Nsight Systems profiles that lie beside a log, in nsys_profile/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/ingest/root_directory.h"
#include "storage/records.h"

namespace llmb::ingest {

// More than this are not listed: a job profiles a few of its ranks.
inline constexpr std::size_t kProfilesMax = 4096;

// Ordered by path; those whose name says another job's id are left out. Nothing where the folder
// cannot be read just now; empty where there is none.
std::optional<std::vector<storage::ProfileFile>> list_profiles(const RootDirectory& root,
                                                               const std::string& log_path,
                                                               std::optional<std::int64_t> job_id);

}  // namespace llmb::ingest
