// TextReading: what is kept of one log while its text goes by. TextReadings: of each of several
// logs that come joined. Memory is bounded by the steps inside the windows, unless all are asked
// for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parser/foundation/content_hash.h"
#include "parser/reader/log_reader.h"
#include "parser/statistics/step_scatter.h"
#include "parser/step_sample.h"
#include "parser/window.h"
#include "server/report/report.h"

namespace llmb::report {

// The steps that one of the windows may hold or that tell the batch, and the last of every segment
// that LogFacts may keep.
class KeptSamples {
 public:
  KeptSamples(std::vector<parser::Window> wanted, bool keeps_all)
      : wanted_(std::move(wanted)), keeps_all_(keeps_all) {}

  void add(parser::StepSample&& sample, const parser::LogFacts& facts);
  // Amended ones stand twice.
  std::vector<parser::StepSample> take();

 private:
  std::vector<parser::Window> wanted_;
  bool keeps_all_;
  std::vector<parser::StepSample> kept_;
  std::optional<parser::StepSample> newest_;
};

// What StepInsight needs of all steps, also of those outside the window: numbers only.
class InsightSamples {
 public:
  explicit InsightSamples(bool are_wanted) : are_wanted_(are_wanted) {}

  // After the last that fits, all are dropped: memory stays bounded.
  void add(const parser::StepSample& sample);
  // Of the segment that counts.
  void report(ReportedRun& run);

 private:
  bool are_wanted_;
  std::vector<parser::StepSample> samples_;  // amended ones stand twice
  bool is_full_ = false;
};

class TextReading {
 public:
  struct Wanted {
    std::vector<parser::Window> windows;  // whose steps are kept beside the last ones
    bool keeps_samples = false;           // all steps
    bool seeks_insight = false;
  };

  // `is_joined`: its text is no file's, so that its hash is taken.
  TextReading(const Wanted& wanted, bool is_joined)
      : text_hash_(is_joined ? std::optional(parser::kFnv1aBasis) : std::nullopt),
        samples_(wanted.windows, wanted.keeps_samples),
        insight_(wanted.seeks_insight) {}

  void feed(std::string_view bytes);
  void finish();

  const parser::LogReader& reader() const { return reader_; }
  std::uint64_t size_bytes() const { return size_bytes_; }
  std::optional<std::uint64_t> text_hash() const { return text_hash_; }
  std::int64_t step_count() const { return step_count_; }
  std::vector<parser::StepSample> take_samples() { return samples_.take(); }
  std::optional<parser::SteadySteps> steady_steps() const {
    return parser::steady_steps_of(newest_.newest_first());
  }
  void report_insight(ReportedRun& run) { insight_.report(run); }

 private:
  void collect();

  parser::LogReader reader_;
  std::uint64_t size_bytes_ = 0;
  std::optional<std::uint64_t> text_hash_;
  std::int64_t step_count_ = 0;
  std::pair<std::int32_t, std::int64_t> last_step_{-1, 0};
  KeptSamples samples_;
  InsightSamples insight_;
  parser::NewestStepTimes newest_;
};

// Logs that may take turns. 64 are read at a time: one that goes on after as many others came is
// taken for another log.
class TextReadings {
 public:
  // A log that was read to its end; the last one is that whose text came last.
  using Done = std::function<void(const std::string& name, TextReading& reading)>;

  TextReadings(TextReading::Wanted wanted, Done done)
      : wanted_(std::move(wanted)), done_(std::move(done)) {}

  void feed(std::string_view name, std::string_view text);
  // One at least is done then, for a log may hold nothing.
  void finish();

 private:
  struct Named {
    std::string name;
    std::unique_ptr<TextReading> reading;
  };
  TextReading& reading_of(std::string_view name);
  void end_first();

  TextReading::Wanted wanted_;
  Done done_;
  std::deque<Named> open_;
};

}  // namespace llmb::report
