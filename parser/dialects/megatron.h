// Megatron-LM, Megatron-Bridge and their forks: the iteration line (numbered from 1, an average
// over the log interval), and Bridge's Step Time line, whose TFLOPS tflops_pairing.h assigns.
//
// An iteration record that is broken over several lines is continued. A log with Step Time lines
// alone has its steps numbered by position from 1.
#pragma once

#include "parser/dialects/dialect.h"
#include "parser/dialects/tflops_pairing.h"

namespace llmb::parser {

class MegatronReader final : public DialectReader {
 public:
  // megatron_bridge as soon as a Step Time line was seen.
  Dialect dialect() const override {
    return step_time_seen_ ? Dialect::megatron_bridge : Dialect::megatron_lm;
  }
  std::span<const std::string_view> literals() const override;
  void read(const Record& record, StepLedger& ledger) override;
  void finish(StepLedger& ledger) override;
  void save(StateWriter& state) const override;
  void restore(StateReader& state) override;

 private:
  struct WaitingLine {
    StepTimeLine line;
    double resolution_s = 0;
    std::uint64_t offset = 0;
  };
  struct IterationMarker;

  static std::optional<IterationMarker> find_marker(std::string_view text, std::size_t from);
  void read_iteration(std::string_view text, const IterationMarker& marker, std::uint64_t offset,
                      StepLedger& ledger);
  bool read_continuation(const Record& record, StepLedger& ledger);
  void read_step_time(const WaitingLine& line, StepLedger& ledger);
  void note_figure(double tflops, bool is_model);
  // As extra fields of a sample in that window, in the order in which they were printed.
  void take_figures(StepSample& sample);
  void read_step_time_line(std::string_view text, std::size_t length, std::uint64_t offset,
                           StepLedger& ledger);
  void pair_waiting_lines(StepLedger& ledger);
  void pair_iteration(const StepSample& sample, StepLedger& ledger);
  void add_step_by_position(const WaitingLine& line, StepLedger& ledger);

  bool step_time_seen_ = false;
  bool iteration_seen_ = false;
  TflopsPairing pairing_;
  // Step Time lines before the first iteration line: they may turn out to be all there is.
  std::vector<WaitingLine> waiting_;
  std::int64_t steps_by_position_ = 0;
  // The newest step's record is not complete: up to this offset a line may continue it.
  std::optional<std::uint64_t> open_until_;
  bool open_is_paired_ = false;
  // The newest figure of each spelling of the unit that no iteration line of the shell parsers'
  // window has followed: what they take for that line's, whichever step it is of.
  struct Figures {
    std::optional<double> tflops;
    std::optional<double> model_tflops;
    bool newest_is_model = false;
  };
  Figures figures_;
};

}  // namespace llmb::parser
