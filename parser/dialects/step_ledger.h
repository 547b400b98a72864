// StepLedger: where the dialects put the steps they read. It numbers the segments, keeps LogFacts
// true, and hands out samples. Memory is bounded but for samples that were not taken yet.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "parser/dialects/line_refusal.h"
#include "parser/dialects/printing_processes.h"
#include "parser/dialects/state_text.h"
#include "parser/dialects/step_marks.h"
#include "parser/log_facts.h"
#include "parser/step_sample.h"

namespace llmb::parser {

class StepLedger {
 public:
  // A step as its line gives it; `sample.segment` is set here. An iteration that does not rise
  // begins a new segment, unless the sample equals the one before in all but its offset: the same
  // line printed twice is one step; or unless the line is of a process that only comes late.
  // Returns the sample as it stands in the ledger, of a late process's the newest.
  const StepSample& add(StepSample sample);

  // The line that is being read, with its label; `raw` lives until the next call.
  void see_line(std::string_view raw) { processes_.see_line(raw); }
  // By its label, the line is of a process that prints a step after others did. A reader that
  // leaves such a step, or one more print of the newest, out of the ledger says so.
  bool is_late(std::int64_t iteration) const;
  void note_print(std::int64_t iteration) { processes_.note(iteration); }

  // The newest step again, with more fields. Nothing happens if it did not change.
  void amend_newest(StepSample sample);

  // An earlier step again, with more fields; segment and iteration say which.
  void amend(const StepSample& sample);

  // The newest step, or nothing before the first.
  const std::optional<StepSample>& newest() const { return newest_; }
  std::int64_t step_count() const { return step_count_; }

  // The log says how far the run means to go. An iteration beyond it takes that back.
  void declare_last_iteration(std::int64_t iteration);
  void report_tflops_per_gpu(double value) { facts_.reported_tflops_per_gpu = value; }
  void add_event(LogEvent event);
  // How many failures were kept that are more than a warning, those included that were left out
  // since; no part of the state.
  std::int64_t failures_kept() const { return failures_kept_; }
  // By which a scheduler, or a user, ended the newest attempt; null where nobody did.
  const LogEvent* end_from_outside() const;
  // A program said that all is trained, until one begins again.
  void see_end_of_training() { training_is_over_ = true; }
  // Whether one did, or the last iteration that was declared was reached.
  bool all_is_trained() const;
  // Whether a launcher labels the line that is being read as one of a task's: of its events, too.
  void see_label_of_task(bool is_labelled) { is_of_task_ = is_labelled; }
  // Later lines tell it better: the failure whose line begins at `offset` is left out, where it is
  // there and of another cause than `unless`.
  void retract_failure(std::uint64_t offset, std::string_view unless = {});
  // The failure whose line begins at `offset`; null where none is kept of it.
  const LogEvent* failure_at(std::uint64_t offset) const;
  // Lines that say the same of one save, in other words or by other ranks, are one event.
  // `is_of_next_step`: the save is in the time of the step behind its iteration, whichever step's
  // line comes next; else in that of the latter.
  void add_checkpoint(const CheckpointEvent& event, bool is_of_next_step = false);
  // Between two steps: the next one whose line begins behind `offset` is marked, see StepMarks.
  void see_interruption(InterruptionSign sign, std::uint64_t offset) { marks_.see(sign, offset); }
  // Nothing happens where the key was stated before.
  void add_stated(StatedValue value);
  void see_nccl_trace() { facts_.nccl_trace_seen = true; }
  // The line that is read next is the log's last one, and no newline ends it.
  void see_unended_line() { log_ends_within_ = true; }
  // Within the line that is being read: that it lacks its end is no fault of it.
  bool log_ends_within() const { return log_ends_within_; }
  // A line that looked like a step cannot be read as one.
  void refuse_line(LineRefusal reason);
  std::int64_t lines_not_understood() const { return facts_.lines_not_understood; }
  // How many of those there were for each reason; no part of the state.
  const std::array<std::int64_t, kLineRefusalCount>& refusals() const { return refusals_; }

  std::vector<StepSample> take_samples();
  LogFacts& facts();
  bool nccl_trace_seen() const { return facts_.nccl_trace_seen; }

  // Samples that were not taken are not part of the state.
  void save(StateWriter& state) const;
  void restore(StateReader& state);

 private:
  void begin_segment(const StepSample& sample);
  void forget_scripts();
  bool was_survived(const LogEvent& earlier, const LogEvent& event) const;
  void refuse_impossible_time(StepSample& sample);
  void count_nan(const StepSample& sample);
  void forgive_skipped_steps(const StepSample& next);
  void give_out(const StepSample& sample);
  // What a second print of the newest step's line is compared with.
  const StepSample& newest_as_added() const {
    return newest_as_added_ ? *newest_as_added_ : *newest_;
  }

  LogFacts facts_;
  std::vector<StepSample> samples_;
  std::optional<StepSample> newest_;
  // The newest step as its line first gave it, where it was amended since.
  std::optional<StepSample> newest_as_added_;
  bool newest_is_nan_ = false;
  // The newest steps one after the other that count as NaN by their gradient norm alone.
  std::int64_t nan_gradients_ = 0;
  StepMarks marks_;
  PrintingProcesses processes_;
  bool log_ends_within_ = false;  // no part of the state: with it reading is over
  std::int64_t step_count_ = 0;
  std::int64_t failures_kept_ = 0;
  std::uint64_t newest_start_offset_ = 0;  // of a line that a program prints when it begins
  bool training_is_over_ = false;
  bool is_of_task_ = false;
  bool task_said_why_ = false;  // in the newest attempt
  // Of the newest attempt's exceptions that no task raised, in a log whose launcher labels those.
  std::vector<std::uint64_t> script_offsets_;
  std::array<std::int64_t, kLineRefusalCount> refusals_{};
};

}  // namespace llmb::parser
