// NoiseRun: what a user's other runs teach of the noise between runs. Repeats of the tested
// configurations tell it themselves (repeat_noise.h), as much as there are of them. What is usual
// for such runs comes first: of other configurations the nearest ones count, those of the same
// workload, GPU and scale where there are enough, else those of the same workload and GPU, else
// those of the same workload; else the public ones. Other workloads never count, so that whoever
// asks for one of them learns the same.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parser/statistics/compared_run.h"
#include "parser/statistics/run_noise.h"

namespace llmb::parser {

struct NoiseRun {
  std::int64_t id = 0;
  std::uint64_t configuration = 0;  // a hash of its characteristics but the window
  std::string window;
  std::string workload;
  std::string gpu_type;
  std::string gpu_count;
  double log_location = 0;  // of its step time
  RunStart start;
  ContentKey content_key;  // as in ComparedRun
  // By how much its location may be off because its window holds so few steps, as a share: from the
  // scatter of its step times, slow ones left out, as if three more of them told as much as one
  // that were independent. 0 where its steps do not scatter. Of a window of one or two steps, as
  // "the last step" of a document is, the scatter is that of its steady steps, or as much as it is
  // off these; nothing where they are not known.
  std::optional<double> sampling_deviation = 0;
  std::int64_t step_count = 0;  // of the window, with a time
};

// Over the run's own window and with every step, as what it is held against its published result
// with. Its location is 0 where it has none.
NoiseRun published_noise_run(const ComparedRun& run);
// Whether that is a performance result.
bool teaches_published_noise(const ComparedRun& run);

// Of the runs that are performance results; a log that stands there twice counts once. The first
// over the window of the comparison.
std::vector<NoiseRun> noise_runs(const std::vector<ComparedRun>& runs);
std::vector<NoiseRun> published_noise_runs(const std::vector<ComparedRun>& runs);

// The noise to expect of the runs that are tested. They and their copies teach nothing: their own
// deviation has its part in the test. Runs over another window than the tested ones' teach as well,
// for nodes and network are those of the run: what a window of fewer steps adds is added. So it is
// to public runs, whose windows have thousands of steps, where they stand for the user's own.
RunNoise noise_for(std::span<const NoiseRun* const> tested, std::span<const NoiseRun> known);
RunNoise noise_for(std::span<const ComparedRun* const> tested, std::span<const NoiseRun> known);

}  // namespace llmb::parser
