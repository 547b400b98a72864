// The sample tree: a small $LLMB_WORKLOAD made up by this program, with every dialect, both
// layouts, repeats, restarts, requeues and failures. Deterministic: the same bytes every time.
// The figures imitate the published ones and measure nothing.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace llmb::sample {

struct SampleFile {
  std::string relative_path;
  std::string content;
};

// Ordered by path.
std::vector<SampleFile> make_sample_tree();

// Creates folders as needed; overwrites files of the same name. Throws std::runtime_error that
// names the file and the reason.
void write_sample_tree(const std::string& folder);

// The run that grows: its log's path and, for each step, the bytes to append.
struct LiveRun {
  std::string relative_path;
  std::string head;
  std::vector<std::string> steps;
};
// `launched_at_s`: seconds since 1970, for the launch folder's name.
LiveRun make_live_run(std::int64_t launched_at_s);

// Writes the sample tree and then one live run after the other, a step every `step_interval`,
// until `stopped` says so.
void grow_sample_tree(const std::string& folder, std::chrono::milliseconds step_interval,
                      const std::function<bool()>& stopped);

}  // namespace llmb::sample
