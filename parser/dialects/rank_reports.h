// RankReportReader: the lines in which training programs tell their slow, hot or odd ranks:
// Megatron's straggler detector, timers over all ranks and sniff test, and the scores of NVIDIA's
// resiliency extension (NVRx). No verdict: it adds up what is printed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "parser/dialects/dialect.h"
#include "parser/dialects/rank_measures.h"
#include "parser/dialects/rank_timers.h"
#include "parser/dialects/state_text.h"
#include "parser/rank_evidence.h"

namespace llmb::parser {

// Lines that hold none of these tell nothing of ranks.
std::span<const std::string_view> rank_report_literals();

class RankReportReader {
 public:
  // `line_bytes`: the length of the line in the log, with the labels that the record lacks.
  void read(const Record& record, std::size_t line_bytes);

  bool has_changed() const { return has_changed_; }
  // Marks it as seen.
  RankEvidence take_snapshot();

  void save(StateWriter& state) const;
  void restore(StateReader& state);

 private:
  void read_straggler_report(const Record& record);
  void read_throughput_list(const Record& record);
  bool read_score_head(std::string_view text);
  void read_score(const Record& record);
  void read_score_summary(const Record& record);
  void read_flagged_ranks(const Record& record);
  void read_sniff_result(const Record& record);
  void read_sniff_outlier(const Record& record);

  RankMeasures measures_;
  RankTimerReader timers_;
  // Whose scores come, and where they stand; empty before the first.
  std::string score_;
  RankPlace score_place_ = RankPlace::each;
  // Of which sniff test the outliers that come are; empty before the first.
  std::string sniff_test_;
  std::string sniff_unit_;
  bool has_changed_ = false;
};

}  // namespace llmb::parser
