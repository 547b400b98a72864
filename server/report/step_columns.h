// StepColumns: a run's steps as JSON columns, written as the steps come by: no step is held.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parser/step_sample.h"
#include "storage/records.h"

namespace llmb::report {

// One JSON array under construction. Nulls before the first value cost nothing, so that a column
// that is null throughout is known as such and was never written.
class JsonColumn {
 public:
  void add_null() { ++pending_nulls_; }
  void add_nulls(std::size_t count) { pending_nulls_ += count; }
  void add_number(double value);  // NaN and infinity are null
  void add_number(std::int64_t value);
  void add_text(std::string_view text);

  bool has_values() const { return !text_.empty(); }
  std::size_t row_count() const { return rows_ + pending_nulls_; }
  void append_to(std::string& document);  // "[…]"
  std::size_t byte_count() const { return text_.size() + 5 * pending_nulls_ + 2; }

 private:
  void begin_value();
  std::string text_;
  std::size_t rows_ = 0;
  std::size_t pending_nulls_ = 0;
};

class StepColumns {
 public:
  // A log may name its fields as it likes; what is over this bound is left out and counted.
  static constexpr std::size_t kExtraFieldsMax = 64;

  StepColumns();
  void add(const parser::StepSample& sample);
  std::size_t row_count() const { return row_count_; }

  // The document of runs/{id}/steps. Columns that are null throughout are left out, but for
  // segment, iteration, step_time_s and tflops_per_gpu.
  std::string finish(storage::RunId run);

 private:
  void add_extra_fields(const parser::StepSample& sample);
  void add_interruptions(const parser::StepSample& sample);

  std::vector<JsonColumn> columns_;
  JsonColumn interruptions_;
  std::vector<std::pair<std::string, JsonColumn>> extra_columns_;
  std::size_t row_count_ = 0;
  std::size_t extra_fields_left_out_ = 0;
};

}  // namespace llmb::report
