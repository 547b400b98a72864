// LogWorker: since when a log is silent, and whether its job hangs by that.
#include "parser/statistics/status_reason.h"
#include "server/ingest/log_worker.h"
#include "server/ingest/poll_schedule.h"

namespace llmb::ingest {

// What we see coming comes now, whatever the file server's clock says; what came before we looked
// came when the file's own time says.
SteadyTime LogWorker::silent_since_when(const ReadJob& job, const LogTail& tail) const {
  const LogMemory& before = job.memory;
  if (job.is_reread) return before.silent_since;
  const bool is_as_before = before.run != 0 && tail.verdict() == LogTail::Verdict::same;
  // A compressed file's size is none of the text's, and its time may be that of the compression.
  const bool is_silent = tail.is_packed() ? tail.cursor().offset == before.offset
                                          : tail.size_seen() == before.size_seen;
  if (is_as_before && is_silent) return before.silent_since;
  if (before.was_read_to_end) return links_.clock.steady();
  return std::max(
      before.silent_since,
      steady_time_of(links_.clock, parser::instant_of_unix_ns(tail.file().modified_ns)));
}

// That a run hangs was told in time, and stays true when its log is judged anew later.
std::optional<parser::Silence> LogWorker::found_silence(const ReadJob& job, SteadyTime silent_since,
                                                        double typical_s) {
  const LogMemory& before = job.memory;
  const auto quiet = links_.clock.steady() - silent_since;
  if (quiet < hung_limit(typical_s)) return std::nullopt;
  parser::Silence silence = {std::chrono::duration<double>(quiet).count(), typical_s};
  silence.since =
      std::chrono::floor<parser::Instant::duration>(wall_time_of(links_.clock, silent_since));
  const bool is_as_before =
      before.run != 0 && silent_since - before.silent_since < std::chrono::seconds(1);
  if (is_as_before && silence.silent_s >= parser::kHungLessThanS) {
    const auto record = database_.run(before.run);
    if (record && record->summary.silent_s) silence.silent_s = *record->summary.silent_s;
  }
  return silence;
}

}  // namespace llmb::ingest
