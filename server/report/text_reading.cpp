#include "server/report/text_reading.h"

#include <algorithm>

#include "parser/statistics/step_insight.h"
#include "parser/statistics/window_choice.h"
#include "server/report/evidence_json.h"

namespace llmb::report {
namespace {

using parser::StepSample;

constexpr auto kSegmentsKept = static_cast<std::int32_t>(parser::kSegmentsMax);
constexpr std::size_t kReadAtATime = 64;

}  // namespace

void KeptSamples::add(StepSample&& sample, const parser::LogFacts& facts) {
  const bool is_wanted = std::ranges::any_of(
      wanted_, [&](const parser::Window& window) { return window.contains(sample.iteration); });
  const bool is_kept =
      keeps_all_ || is_wanted || parser::batch_evidence_window(facts).contains(sample.iteration);
  if (is_kept) {
    kept_.push_back(std::move(sample));
    return;
  }
  const bool is_next = newest_ && newest_->segment != sample.segment;
  if (is_next && newest_->segment < kSegmentsKept) kept_.push_back(std::move(*newest_));
  if (!newest_ || is_next || newest_->iteration <= sample.iteration) newest_ = std::move(sample);
}

std::vector<StepSample> KeptSamples::take() {
  if (newest_) kept_.push_back(std::move(*newest_));
  newest_.reset();
  return std::move(kept_);
}

void InsightSamples::add(const StepSample& sample) {
  if (is_full_ || !are_wanted_) return;
  StepSample slim;
  slim.segment = sample.segment;
  slim.iteration = sample.iteration;
  slim.step_time_s = sample.step_time_s;
  slim.step_time_resolution_s = sample.step_time_resolution_s;
  slim.memory_bytes_max = sample.memory_bytes_max;
  slim.memory_bytes_allocated = sample.memory_bytes_allocated;
  samples_.push_back(std::move(slim));
  is_full_ = static_cast<std::int64_t>(samples_.size()) > kInsightStepsMax;
  if (is_full_) samples_ = {};
}

void InsightSamples::report(ReportedRun& run) {
  if (!are_wanted_) return;
  if (is_full_) {
    run.insight_reason = "the log holds too many steps for one look";
    return;
  }
  std::vector<StepSample> merged;
  parser::merge_samples(merged, std::move(samples_));
  std::erase_if(merged, [&](const StepSample& sample) {
    return sample.segment != run.judgement.summary.segment;
  });
  run.insight = parser::compute_step_insight(merged);
}

void TextReading::feed(std::string_view bytes) {
  size_bytes_ += bytes.size();
  if (text_hash_) text_hash_ = parser::fnv1a(bytes, *text_hash_);
  reader_.feed(bytes);
  collect();
}

void TextReading::finish() {
  reader_.finish();
  collect();
}

// Steps come in order, and an amended one comes again.
void TextReading::collect() {
  for (StepSample& sample : reader_.take_samples()) {
    const std::pair step(sample.segment, sample.iteration);
    if (step > last_step_) {
      last_step_ = step;
      ++step_count_;
    }
    insight_.add(sample);
    newest_.add(sample);
    samples_.add(std::move(sample), reader_.facts());
  }
}

void TextReadings::feed(std::string_view name, std::string_view text) {
  reading_of(name).feed(text);
}

void TextReadings::finish() {
  if (open_.empty()) reading_of({});
  while (!open_.empty()) end_first();
}

TextReading& TextReadings::reading_of(std::string_view name) {
  const auto known = std::find_if(open_.rbegin(), open_.rend(),
                                  [&](const Named& open) { return open.name == name; });
  if (known != open_.rend()) {
    std::rotate(open_.rbegin(), known, known + 1);
    return *open_.back().reading;
  }
  if (open_.size() == kReadAtATime) end_first();
  open_.push_back({std::string(name), std::make_unique<TextReading>(wanted_, !name.empty())});
  return *open_.back().reading;
}

void TextReadings::end_first() {
  Named& first = open_.front();
  first.reading->finish();
  done_(first.name, *first.reading);
  open_.pop_front();
}

}  // namespace llmb::report
