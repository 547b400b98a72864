// Which Step Time line belongs to which iteration line. Megatron-Bridge prints TFLOPS per GPU from
// rank 0 and the iteration from the last rank: two processes, so either order occurs, and lines of
// either kind get lost or printed twice. Both print the step's time, rank 0 rounded to 10 ms.
//
// The answer is the cheapest order-preserving alignment of the two over the last lines: a pair
// costs by how much its times differ beyond rounding, by the lines between the two, and by standing
// against the log's prevailing order; a line left alone costs too. So times decide where they
// differ, and neighbourhood in the prevailing order where all are equal. A later line may change
// earlier pairs.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "parser/dialects/state_text.h"
#include "parser/step_sample.h"

namespace llmb::parser {

// Extra fields of iterations 35 to 44: the newest figure before the iteration's line, by the
// spelling of its unit. That is how the recipes' shell parsers pair, in their window; kept so that
// agreement can say what they print, also where it belongs to another step.
inline constexpr std::string_view kStepTimeLineTflops = "step_time_line_tflops";
inline constexpr std::string_view kStepTimeLineModelTflops = "step_time_line_model_tflops";

struct StepTimeLine {
  double step_time_s = 0;
  std::optional<double> tflops_per_gpu;  // nothing where the program could not tell (0 or -1)
};

class TflopsPairing {
 public:
  // Each returns the iterations whose TFLOPS changed by this line, with their new value.
  std::vector<StepSample> add_step_time(const StepTimeLine& line);
  // Where `sample` carries TFLOPS of its own, they stand. What comes back may hold it.
  std::vector<StepSample> add_iteration(const StepSample& sample);

  // The iteration was completed by a later line: keeps the pairing's copy true. Nothing happens if
  // it is no longer in the window.
  void replace_iteration(const StepSample& sample);

  void save(StateWriter& state) const;
  void restore(StateReader& state);

  static constexpr std::size_t kWindowLines = 24;

 private:
  struct Entry {
    bool is_iteration = false;
    bool has_own_tflops = false;
    StepTimeLine line;
    StepSample sample;
  };
  // For each entry the index of its partner, or nothing.
  using Partners = std::vector<std::optional<std::size_t>>;

  std::vector<StepSample> settle();
  void settle_by_alignment(std::vector<StepSample>& changed);
  bool stays_in_step() const;
  static void set_tflops(Entry& iteration, std::optional<double> tflops,
                         std::vector<StepSample>& changed);
  struct AlignmentCost {
    double total = 0;
    // The newest line may just wait for its partner: then it speaks for neither order.
    double while_newest_waits = 0;
  };
  AlignmentCost align(bool step_time_first, Partners& partners) const;
  double pair_cost(std::size_t step_time, std::size_t iteration, bool step_time_first) const;
  void forget_oldest(Partners& partners);

  std::deque<Entry> entries_;
  bool in_step_ = true;
  bool step_time_first_ = true;
  // Pairs that left the window in the prevailing order, up to a limit: what it costs to leave it.
  std::int64_t order_evidence_ = 0;
};

}  // namespace llmb::parser
