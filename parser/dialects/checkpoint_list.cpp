#include "parser/dialects/checkpoint_list.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace llmb::parser {
namespace {

constexpr std::size_t kFirstCheckpointsKept = 16;

bool is_told_again(const CheckpointEvent& before, const CheckpointEvent& event) {
  if (before.kind != event.kind) return false;
  if (event.kind == CheckpointEvent::Kind::save_finished && before.iteration && event.iteration) {
    // NeMo says "from iteration 24", and then of the same save "for step 25 … finalized".
    return *event.iteration == *before.iteration || *event.iteration == *before.iteration + 1;
  }
  return before.iteration == event.iteration && before.rank && event.rank &&
         *before.rank != *event.rank;
}

// By another process: of one attempt where the save has a number, else since the newest step.
bool is_another_processes(const CheckpointEvent& before, const CheckpointEvent& event,
                          const LogFacts& facts, std::uint64_t newest_step) {
  const bool is_same = before.kind == event.kind && before.iteration == event.iteration &&
                       !before.rank && !event.rank;
  const std::uint64_t attempt = facts.segments.empty() ? 0 : facts.segments.back().first_offset;
  return is_same && before.offset >= (event.iteration ? attempt : newest_step);
}

// Between the first ones and the newest.
void forget_old(std::vector<CheckpointEvent>& checkpoints) {
  if (checkpoints.size() <= kCheckpointsMax) return;
  const auto first = checkpoints.begin() + static_cast<std::ptrdiff_t>(kFirstCheckpointsKept);
  const std::size_t excess = checkpoints.size() - kCheckpointsMax;
  checkpoints.erase(first, first + static_cast<std::ptrdiff_t>(excess));
}

}  // namespace

bool add_to_checkpoints(LogFacts& facts, const CheckpointEvent& event, std::uint64_t newest_step) {
  constexpr std::ptrdiff_t kReach = 16;
  std::vector<CheckpointEvent>& all = facts.checkpoints;
  const auto end = all.rend() - std::max<std::ptrdiff_t>(std::ssize(all) - kReach, 0);
  const auto known = std::find_if(all.rbegin(), end, [&](const CheckpointEvent& before) {
    const bool is_last = &before == &all.back();
    return (is_last && is_told_again(before, event)) ||
           is_another_processes(before, event, facts, newest_step);
  });
  if (known != end) {
    if (event.duration_s > known->duration_s) {
      known->duration_s = event.duration_s;
      known->rank = event.rank;
    }
    return false;
  }
  ++facts.checkpoint_count;
  // A log may tell of one in every tenth line: they are forgotten by the hundred.
  if (all.size() == 2 * kCheckpointsMax) forget_old(all);
  all.push_back(event);
  return true;
}

void forget_old_checkpoints(LogFacts& facts) {
  forget_old(facts.checkpoints);
}

void save_checkpoints(StateWriter& state, const LogFacts& facts) {
  std::vector<CheckpointEvent> checkpoints = facts.checkpoints;
  forget_old(checkpoints);
  state.integer(facts.checkpoint_count);
  state.unsigned_integer(checkpoints.size());
  for (const CheckpointEvent& event : checkpoints) {
    state.text(checkpoint_kind_name(event.kind));
    state.optional_integer(event.iteration);
    state.optional_number(event.duration_s);
    state.optional_integer(event.rank);
    state.unsigned_integer(event.offset);
  }
}

void restore_checkpoints(StateReader& state, LogFacts& facts) {
  facts.checkpoint_count = state.integer();
  facts.checkpoints.resize(state.count(kCheckpointsMax));
  for (CheckpointEvent& event : facts.checkpoints) {
    const auto kind = checkpoint_kind_from_name(state.text());
    if (!kind) state.fail();
    event.kind = kind.value_or(CheckpointEvent::Kind::save);
    event.iteration = state.optional_integer();
    event.duration_s = state.optional_number();
    event.rank = state.optional_integer();
    event.offset = state.unsigned_integer();
  }
}

}  // namespace llmb::parser
