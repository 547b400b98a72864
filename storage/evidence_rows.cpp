#include "storage/evidence_rows.h"

namespace llmb::storage {

using parser::CheckpointEvent;
using parser::NcclUse;

void write_checkpoints(Connection& connection, RunId run,
                       const std::vector<CheckpointEvent>& checkpoints) {
  if (read_checkpoints(connection, run) == checkpoints) return;
  connection.kept("DELETE FROM run_checkpoint WHERE run_id = ?").integer(run).run();
  Statement& insert = connection.kept("INSERT INTO run_checkpoint VALUES (?,?,?,?,?,?,?)");
  std::int64_t position = 0;
  for (const CheckpointEvent& event : checkpoints) {
    insert.integer(run).integer(position++).text(parser::checkpoint_kind_name(event.kind));
    insert.integer(event.iteration).real(event.duration_s).integer(event.rank);
    insert.bits(event.offset).run();
  }
}

void write_nccl_uses(Connection& connection, RunId run, const std::vector<NcclUse>& uses) {
  if (read_nccl_uses(connection, run) == uses) return;
  connection.kept("DELETE FROM run_nccl WHERE run_id = ?").integer(run).run();
  Statement& insert = connection.kept("INSERT INTO run_nccl VALUES (?,?,?,?,?,?,?,?)");
  for (const NcclUse& use : uses) {
    insert.integer(run).text(use.operation).integer(use.datatype).integer(use.element_count);
    insert.integer(use.rank_count).integer(use.calls).integer(use.communicator_count);
    insert.boolean(use.communicators_are_complete).run();
  }
}

void write_profiles(Connection& connection, RunId run, const std::vector<ProfileFile>& profiles) {
  if (read_profiles(connection, run) == profiles) return;
  connection.kept("DELETE FROM run_profile WHERE run_id = ?").integer(run).run();
  Statement& insert = connection.kept("REPLACE INTO run_profile VALUES (?,?,?,?,?,?)");
  for (const ProfileFile& profile : profiles) {
    insert.integer(run).text(profile.relative_path).bits(profile.size_bytes);
    insert.integer(profile.name.node).integer(profile.name.local_rank);
    insert.integer(profile.name.process_id).run();
  }
}

std::vector<CheckpointEvent> read_checkpoints(Connection& connection, RunId run) {
  Statement& select = connection.kept(
      "SELECT kind, iteration, duration_s, rank, byte_offset FROM run_checkpoint"
      " WHERE run_id = ? ORDER BY position");
  select.integer(run);
  std::vector<CheckpointEvent> checkpoints;
  while (select.step()) {
    CheckpointEvent event;
    event.kind =
        parser::checkpoint_kind_from_name(select.read_text()).value_or(CheckpointEvent::Kind::save);
    event.iteration = select.read_optional_integer();
    event.duration_s = select.read_optional_real();
    event.rank = select.read_optional_integer();
    event.offset = select.read_bits();
    checkpoints.push_back(event);
  }
  return checkpoints;
}

std::vector<NcclUse> read_nccl_uses(Connection& connection, RunId run) {
  Statement& select = connection.kept(
      "SELECT operation, datatype, element_count, rank_count, calls, communicator_count,"
      " communicators_are_complete FROM run_nccl WHERE run_id = ?"
      " ORDER BY operation, datatype, element_count, rank_count");
  select.integer(run);
  std::vector<NcclUse> uses;
  while (select.step()) {
    NcclUse use;
    use.operation = select.read_text();
    use.datatype = select.read_integer();
    use.element_count = select.read_integer();
    use.rank_count = select.read_integer();
    use.calls = select.read_integer();
    use.communicator_count = select.read_integer();
    use.communicators_are_complete = select.read_boolean();
    uses.push_back(std::move(use));
  }
  return uses;
}

std::vector<ProfileFile> read_profiles(Connection& connection, RunId run) {
  Statement& select = connection.kept(
      "SELECT relative_path, size_bytes, node, local_rank, process_id FROM run_profile"
      " WHERE run_id = ? ORDER BY relative_path");
  select.integer(run);
  std::vector<ProfileFile> profiles;
  while (select.step()) {
    ProfileFile profile;
    profile.relative_path = select.read_text();
    profile.size_bytes = select.read_bits();
    profile.name.node = select.read_optional_integer();
    profile.name.local_rank = select.read_optional_integer();
    profile.name.process_id = select.read_optional_integer();
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

}  // namespace llmb::storage
