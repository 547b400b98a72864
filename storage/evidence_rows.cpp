#include "storage/evidence_rows.h"

namespace llmb::storage {

using parser::CheckpointEvent;
using parser::NcclUse;
using parser::RankMeasure;

void write_checkpoints(Connection& connection, RunId run,
                       const std::vector<CheckpointEvent>& checkpoints, bool is_new) {
  if (is_new ? checkpoints.empty() : read_checkpoints(connection, run) == checkpoints) return;
  if (!is_new) connection.kept("DELETE FROM run_checkpoint WHERE run_id = ?").integer(run).run();
  Statement& insert = connection.kept("INSERT INTO run_checkpoint VALUES (?,?,?,?,?,?,?)");
  std::int64_t position = 0;
  for (const CheckpointEvent& event : checkpoints) {
    insert.integer(run).integer(position++).text(parser::checkpoint_kind_name(event.kind));
    insert.integer(event.iteration).real(event.duration_s).integer(event.rank);
    insert.bits(event.offset).run();
  }
}

void write_nccl_uses(Connection& connection, RunId run, const std::vector<NcclUse>& uses,
                     bool is_new) {
  if (is_new ? uses.empty() : read_nccl_uses(connection, run) == uses) return;
  if (!is_new) connection.kept("DELETE FROM run_nccl WHERE run_id = ?").integer(run).run();
  Statement& insert = connection.kept("INSERT INTO run_nccl VALUES (?,?,?,?,?,?,?,?)");
  for (const NcclUse& use : uses) {
    insert.integer(run).text(use.operation).integer(use.datatype).integer(use.element_count);
    insert.integer(use.rank_count).integer(use.calls).integer(use.communicator_count);
    insert.boolean(use.communicators_are_complete).run();
  }
}

void write_rank_measures(Connection& connection, RunId run,
                         const std::vector<RankMeasure>& measures, bool is_new) {
  if (is_new ? measures.empty() : read_rank_measures(connection, run) == measures) return;
  if (!is_new) connection.kept("DELETE FROM run_rank_measure WHERE run_id = ?").integer(run).run();
  Statement& insert =
      connection.kept("INSERT INTO run_rank_measure VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  std::int64_t position = 0;
  for (const RankMeasure& measure : measures) {
    insert.integer(run).integer(position++).text(parser::rank_source_name(measure.source));
    insert.text(measure.quantity).text(measure.unit);
    insert.text(parser::rank_place_name(measure.place)).integer(measure.rank).text(measure.node);
    insert.integer(measure.count);
    if (measure.values) {
      insert.real(measure.values->min).real(measure.values->max).real(measure.values->sum);
    } else {
      insert.null().null().null();
    }
    insert.bits(measure.offset).boolean(measure.is_of_other_ranks).run();
  }
}

void write_profiles(Connection& connection, RunId run, const std::vector<ProfileFile>& profiles,
                    bool is_new) {
  if (is_new ? profiles.empty() : read_profiles(connection, run) == profiles) return;
  if (!is_new) connection.kept("DELETE FROM run_profile WHERE run_id = ?").integer(run).run();
  static const std::string sql = put_row_sql(
      "run_profile", 2, "run_id, relative_path, size_bytes, node, local_rank, process_id");
  Statement& insert = connection.kept(sql);
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

std::vector<RankMeasure> read_rank_measures(Connection& connection, RunId run) {
  Statement& select = connection.kept(
      "SELECT source, quantity, unit, place, rank, node, count, value_min, value_max, value_sum,"
      " byte_offset, is_of_other_ranks FROM run_rank_measure WHERE run_id = ? ORDER BY position");
  select.integer(run);
  std::vector<RankMeasure> measures;
  while (select.step()) {
    RankMeasure measure;
    measure.source = parser::rank_source_from_name(select.read_text()).value_or(measure.source);
    measure.quantity = select.read_text();
    measure.unit = select.read_text();
    measure.place = parser::rank_place_from_name(select.read_text()).value_or(measure.place);
    measure.rank = select.read_optional_integer();
    measure.node = select.read_text();
    measure.count = select.read_integer();
    const auto min = select.read_optional_real();
    const auto max = select.read_optional_real();
    const auto sum = select.read_optional_real();
    if (min && max && sum) measure.values = parser::RankValues{*min, *max, *sum};
    measure.offset = select.read_bits();
    measure.is_of_other_ranks = select.read_boolean();
    measures.push_back(std::move(measure));
  }
  return measures;
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
