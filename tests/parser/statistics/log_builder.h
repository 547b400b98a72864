// LogBuilder: a log as LogReader would tell it, for tests of what is made of it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "parser/statistics/run_summary.h"

namespace llmb::parser {

// Passes over iterations, and events between them.
class LogBuilder {
 public:
  explicit LogBuilder(Dialect dialect = Dialect::nemo, std::int64_t declared_last = 49) {
    facts.dialect = dialect;
    facts.declared_last_iteration = declared_last;
  }

  LogBuilder& run(std::int64_t first, std::int64_t last, std::int64_t interval = 1) {
    const auto segment = static_cast<std::int32_t>(facts.segments.size());
    SegmentFacts pass;
    pass.first_iteration = first;
    pass.segment = segment;
    pass.first_offset = samples.size() * 100;
    for (std::int64_t i = first; i <= last; i += interval) {
      StepSample sample;
      sample.segment = segment;
      sample.iteration = i;
      sample.step_time_s = 2.0 + static_cast<double>(i % 2);
      sample.tflops_per_gpu = 500;
      sample.byte_offset = samples.size() * 100;
      samples.push_back(sample);
      pass.last_iteration = i;
      ++pass.step_count;
    }
    facts.segments.push_back(pass);
    return *this;
  }

  LogBuilder& failure(std::string cause, std::string line) {
    facts.events.push_back(event(LogEvent::Kind::failure, std::move(cause), std::move(line)));
    return *this;
  }

  // So many steps before where the log ends.
  LogBuilder& failure_before_last(std::int64_t steps, std::string cause, std::string line) {
    failure(std::move(cause), std::move(line));
    facts.events.back().steps_before -= steps;
    facts.events.back().offset -= static_cast<std::uint64_t>(steps) * 100;
    return *this;
  }

  LogBuilder& finish() {
    facts.events.push_back(event(LogEvent::Kind::finish_marker, "training_done", "after training"));
    return *this;
  }

  RunSummary summarize(Window window = {11, 44}, bool may_still_grow = false) const {
    return summarize_run(samples, facts, window, may_still_grow);
  }

  std::vector<StepSample> samples;
  LogFacts facts;

 private:
  LogEvent event(LogEvent::Kind kind, std::string cause, std::string line) const {
    return {kind, std::move(cause), std::move(line), samples.size() * 100,
            static_cast<std::int64_t>(samples.size())};
  }
};

}  // namespace llmb::parser
