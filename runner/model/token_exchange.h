// TokenExchange: brings rows to the ranks that hold their experts, and back. Dropless: every row
// travels, however uneven the load. Rows go to their expert's rank of the expert group, and from
// there to all ranks of its expert-tensor group, each of which has a slice of the expert; on the
// way back the slices' partial results are summed in the order of those ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runner/model/stage_context.h"

namespace llmb::runner {

template <typename Backend>
class TokenExchange {
 public:
  using Tensor = ValueTensor<Backend>;
  using ConstView = ConstValueView<Backend>;
  using View = ValueView<Backend>;

  // Agrees with the other ranks on who sends how many rows. rows_of_expert: this rank's, for every
  // expert of the model. The one place in a pass where the host waits for the backend: what is sent
  // has to be known where messages are posted.
  void plan(const StageContext<Backend>& context,
            std::span<const typename Backend::Index> rows_of_expert);

  // Rows that each of this rank's own experts gets.
  const std::vector<std::int64_t>& rows_of_local_expert() const { return rows_of_local_expert_; }

  // rows, sorted by the model's experts -> the rows of this rank's own experts, sorted by these
  void to_experts(const StageContext<Backend>& context, ConstView rows, Tensor& local) const;
  // The way back, with the sum over expert-tensor slices.
  void from_experts(const StageContext<Backend>& context, ConstView local, Tensor& rows) const;

 private:
  // Counts [source][own expert], on the host.
  void sort_arrivals(const StageContext<Backend>& context,
                     std::span<const typename Backend::Index> counts, std::size_t local_experts);

  std::vector<std::int64_t> rows_of_local_expert_;
  std::vector<std::size_t> sent_rows_;      // to each rank of the expert group
  std::vector<std::size_t> received_rows_;  // from each of them
  std::vector<std::size_t> slice_rows_;     // that each rank of the expert-tensor group brings
  IndexArray<Backend> order_;               // place by expert of every row as it arrives
};

}  // namespace llmb::runner
