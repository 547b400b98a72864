// What a log says beside its steps <-> rows of run_checkpoint, run_nccl, run_rank_measure and
// run_profile. All functions run inside a transaction of the caller's; each writes only where
// something changed. `is_new`: nothing of the run is stored yet, so that nothing is compared.
#pragma once

#include <vector>

#include "storage/connection.h"
#include "storage/records.h"

namespace llmb::storage {

void write_checkpoints(Connection& connection, RunId run,
                       const std::vector<parser::CheckpointEvent>& checkpoints, bool is_new);
void write_nccl_uses(Connection& connection, RunId run, const std::vector<parser::NcclUse>& uses,
                     bool is_new);
void write_rank_measures(Connection& connection, RunId run,
                         const std::vector<parser::RankMeasure>& measures, bool is_new);
void write_profiles(Connection& connection, RunId run, const std::vector<ProfileFile>& profiles,
                    bool is_new);

std::vector<parser::CheckpointEvent> read_checkpoints(Connection& connection, RunId run);
std::vector<parser::NcclUse> read_nccl_uses(Connection& connection, RunId run);
std::vector<parser::RankMeasure> read_rank_measures(Connection& connection, RunId run);
std::vector<ProfileFile> read_profiles(Connection& connection, RunId run);

}  // namespace llmb::storage
