// LogReader: the one way from a log's bytes to StepSamples. The live tail, the one-shot parse and
// the tests all use it. Any chunking of the same bytes gives the same samples and facts.
//
// Success: every step of the log is a StepSample. Failure is not an outcome: what cannot be read
// is counted in LogFacts, and memory stays bounded (one line of at most 1 MiB is held).
// Not thread-safe; distinct readers are independent.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parser/dialects/line_refusal.h"
#include "parser/log_facts.h"
#include "parser/result.h"
#include "parser/step_sample.h"

namespace llmb::parser {

// A line that looked like one that is wanted, and could not be read as it.
struct RefusedLine {
  std::uint64_t offset = 0;
  std::string line;  // cleaned, at most 500 bytes; any bytes else
};
struct RefusedLines {
  LineRefusal reason = LineRefusal::iteration_not_read;
  std::int64_t count = 0;
  std::vector<RefusedLine> samples;  // the first of them; none of lines that are not kept
};
inline constexpr std::size_t kRefusedSamplesMax = 3;

class LogReader {
 public:
  LogReader();
  ~LogReader();
  LogReader(LogReader&&) noexcept;
  LogReader& operator=(LogReader&&) noexcept;

  // Reads the next bytes of the log. `bytes` need not end at a line's end and is not kept.
  void feed(std::string_view bytes);

  // The log is at its end: an unterminated last line counts. Nothing may be fed afterwards.
  void finish();

  // The samples since the last call, oldest first. A sample may come again with the same
  // (segment, iteration) when a later line adds to it (Megatron-Bridge's TFLOPS): the later one
  // replaces the earlier.
  std::vector<StepSample> take_samples();

  const LogFacts& facts() const;

  // By reason, those without a line left out: what LogFacts counts as not understood, too long, or
  // torn (of an NCCL trace). Of the first kind a restored reader knows those that it read itself.
  std::vector<RefusedLines> refused_lines() const;

  // End of the last complete line: where reading goes on after a restart.
  std::uint64_t committed_offset() const;

  // All that is needed to go on at committed_offset() in another process: printable text without
  // newlines, a few KiB, tens of KiB with an NCCL trace or reports on many ranks. Unterminated
  // bytes are not part of it: feed them again.
  std::string save_state() const;

  // Fails on text that save_state() of this version did not write (then: read the log anew).
  static Result<LogReader> restore(std::string_view state);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A whole log that is in memory at once. Amended samples are already replaced.
struct ParsedLog {
  std::vector<StepSample> samples;  // ordered by (segment, iteration)
  LogFacts facts;
};
ParsedLog parse_log(std::string_view bytes);

// Replaces samples of equal (segment, iteration) by the later one, and orders them.
void merge_samples(std::vector<StepSample>& into, std::vector<StepSample> later);

}  // namespace llmb::parser
