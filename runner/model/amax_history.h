// AmaxHistory: the largest elements of one operand of one matrix, step by step, by which delayed
// scaling rounds it to FP8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace llmb::runner {

class AmaxHistory {
 public:
  // 0 before the first step's end.
  double scaling_max() const { return scaling_max_; }
  void end_step(double step_max);

  // The steps that are remembered, the oldest first; and such, in the place of what was there.
  std::vector<double> past() const;
  void restore(std::vector<double> past);

 private:
  static constexpr std::size_t kLength = 1024;  // steps, as the recipes' amax_history_len
  std::vector<double> past_;                    // the newest at next_ - 1, going round
  std::size_t next_ = 0;
  double scaling_max_ = 0;
};

// One of a model's: ranks that share the matrix have the same.
struct NamedHistory {
  std::string matrix;   // the parameter's name; of one expert's, with its number: "…weight[5]"
  std::string operand;  // "input", "weight" or "gradient"
  AmaxHistory* history = nullptr;
  bool is_saved_here = false;  // by one of the ranks that share it
};

}  // namespace llmb::runner
