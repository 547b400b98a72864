#include "parser/statistics/event_role.h"

#include <algorithm>
#include <cstdint>

#include "parser/foundation/name_table.h"
#include "parser/statistics/first_cause.h"
#include "parser/statistics/teardown.h"

namespace llmb::parser {
namespace {

constexpr auto kRoles = name_table<EventRole>({
    {EventRole::none, "none"},
    {EventRole::root, "root"},
    {EventRole::cascade, "cascade"},
    {EventRole::symptom, "symptom"},
    {EventRole::survived, "survived"},
});

EventRole role_beside_root(const LogEvent& failure) {
  if (begins_anew(failure.cause)) return EventRole::survived;
  switch (depth_of(failure)) {
    case CauseDepth::root:
    case CauseDepth::likely_root:
    case CauseDepth::communication:
    case CauseDepth::peer_lost:
    case CauseDepth::exception:
      return EventRole::cascade;
    case CauseDepth::complaint:
    case CauseDepth::survivable:
      return EventRole::survived;
    case CauseDepth::worker_signal:
    case CauseDepth::worker_failed:
    case CauseDepth::traceback:
    case CauseDepth::killed:
    case CauseDepth::consequence:
    case CauseDepth::none:
      break;
  }
  return EventRole::symptom;
}

struct Attempt {
  std::size_t number = 0;
  std::int64_t steps_after = 0;  // of the same attempt, after the event
};

// Events after the last step of one pass, and before the first of the next, are of the former.
Attempt attempt_of(const LogEvent& event, const LogFacts& facts) {
  std::int64_t end = 0;
  for (std::size_t i = 0; i < facts.segments.size(); ++i) {
    end += facts.segments[i].step_count;
    if (event.steps_before <= end && event.steps_before > 0) return {i, end - event.steps_before};
    if (event.steps_before == 0) return {0, end};
  }
  return {facts.segments.empty() ? 0 : facts.segments.size() - 1, 0};
}

bool is_survived(const LogEvent& failure, const LogFacts& facts, const Attempt& attempt,
                 std::optional<double> step_time_s) {
  if (attempt.steps_after == 0) return false;
  const SegmentFacts& segment = facts.segments[attempt.number];
  return failure.steps_before == 0 || !is_teardown(attempt.steps_after, segment, step_time_s) ||
         !may_end_over(failure, segment, facts.declared_last_iteration);
}

// Whether a launcher began anew, or what counts went on, between an event and the root of its
// attempt, or the log's end where there is none.
bool was_begun_anew(const LogEvent* event, const LogEvent* end) {
  return event < end &&
         std::any_of(event, end, [](const LogEvent& one) { return begins_anew(one.cause); });
}

}  // namespace

std::string_view event_role_name(EventRole role) {
  return kRoles.name(role);
}

std::vector<EventPart> event_parts(const LogFacts& facts, std::optional<double> step_time_s) {
  std::vector<EventPart> parts(facts.events.size());
  std::vector<FirstCause> roots(facts.segments.empty() ? 1 : facts.segments.size());
  std::vector<FirstCause> last_words(roots.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const LogEvent& event = facts.events[i];
    const Attempt attempt = attempt_of(event, facts);
    parts[i].attempt = attempt.number;
    if (event.kind != LogEvent::Kind::failure) continue;
    parts[i].role = EventRole::survived;
    if (is_survived(event, facts, attempt, step_time_s)) {
      const bool is_near_end =
          is_teardown(attempt.steps_after, facts.segments[attempt.number], step_time_s);
      const bool is_before_first_step = event.steps_before == 0;
      if (is_near_end && may_be_last_word(event, is_before_first_step))
        last_words[attempt.number].offer(event);
      continue;
    }
    parts[i].role = role_beside_root(event);
    roots[attempt.number].offer(event);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const LogEvent* root = roots[parts[i].attempt].chosen();
    const LogEvent* const last_word = last_words[parts[i].attempt].chosen();
    if (last_word != nullptr && explains(*last_word, roots[parts[i].attempt])) root = last_word;
    if (&facts.events[i] == root) parts[i].role = EventRole::root;
    const bool is_failure = facts.events[i].kind == LogEvent::Kind::failure;
    const LogEvent* const end = root != nullptr ? root : facts.events.data() + facts.events.size();
    if (is_failure && was_begun_anew(&facts.events[i], end)) parts[i].role = EventRole::survived;
  }
  return parts;
}

}  // namespace llmb::parser
