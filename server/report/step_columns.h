// StepColumns: a run's steps as JSON columns, written as the steps come by: no step is held, and of
// a long run the columns are held packed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parser/step_sample.h"
#include "storage/records.h"

namespace llmb::report {

// How text is held that is not needed now. Both are called on the caller's thread.
struct TextPacking {
  std::function<std::string(std::string_view text)> pack;
  std::function<std::string(std::string_view packed)> unpack;
};

// One JSON array under construction. Nulls before the first value cost nothing, so that a column
// that is null throughout is known as such and was never written.
class JsonColumn {
 public:
  void add_null() { ++pending_nulls_; }
  void add_nulls(std::size_t count) { pending_nulls_ += count; }
  void add_number(double value);  // NaN and infinity are null
  void add_number(std::int64_t value);
  void add_text(std::string_view text);

  bool has_values() const { return !text_.empty() || !packed_.empty(); }
  std::size_t row_count() const { return rows_ + pending_nulls_; }
  // What was written so far, where it is worth while.
  void pack(const TextPacking& packing);
  // "[…]"
  void write(const TextPacking& packing, const std::function<void(std::string_view)>& sink) const;

 private:
  void begin_value();
  std::vector<std::string> packed_;
  std::string text_;  // after what is packed
  std::size_t rows_ = 0;
  std::size_t pending_nulls_ = 0;
};

class StepColumns {
 public:
  // A log may name its fields as it likes; what is over this bound is left out and counted.
  static constexpr std::size_t kExtraFieldsMax = 64;
  // After so many rows their columns are packed.
  static constexpr std::size_t kRowsPacked = 4'096;

  explicit StepColumns(TextPacking packing);
  void add(const parser::StepSample& sample);
  std::size_t row_count() const { return row_count_; }

  // Gives the document of runs/{id}/steps piece by piece, and lets go of a column that was given.
  // Columns that are null throughout are left out, but for segment, iteration, step_time_s and
  // tflops_per_gpu.
  void write(storage::RunId run, const std::function<void(std::string_view)>& sink) &&;

 private:
  void add_extra_fields(const parser::StepSample& sample);

  void pack();

  const TextPacking packing_;
  std::vector<JsonColumn> columns_;
  JsonColumn interruptions_;
  std::vector<std::pair<std::string, JsonColumn>> extra_columns_;
  std::size_t row_count_ = 0;
  std::size_t extra_fields_left_out_ = 0;
};

}  // namespace llmb::report
