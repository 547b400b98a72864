// TokenExchange: brings rows to the ranks that hold their experts, and back. Dropless: every row
// travels, however uneven the load. Rows go to their expert's rank of the expert group, and from
// there to all ranks of its expert-tensor group, each of which has a slice of the expert; on the
// way back the slices' partial results are summed in the order of those ranks. Where all experts
// are on each rank, how much travels does not depend on the router, and the host asks for no
// counts.
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
  // expert of the model; `rows` in all. The one place in a pass where the host waits for the
  // backend: if experts are shared out, for what is sent has to be known where messages are posted,
  // or if experts' products want it (StageContext::counts_experts_on_device).
  void plan(const StageContext<Backend>& context,
            std::span<const typename Backend::Index> rows_of_expert, std::int64_t rows);

  // Calls `body` with the rows that each of this rank's own experts gets: on the host if plan() had
  // them there, else in the backend's memory.
  template <typename Body>
  void with_rows(const Body& body) const {
    if (host_rows_.empty()) {
      body(rows_of_local_expert_.values());
    } else {
      body(std::span<const std::int64_t>(host_rows_));
    }
  }

  // That this rank's own experts get in all.
  std::int64_t local_rows() const { return local_rows_; }

  // rows, sorted by the model's experts -> the rows of this rank's own experts, sorted by these.
  // What is given is of no more use.
  void to_experts(const StageContext<Backend>& context, Tensor& rows, Tensor& local) const;
  // The way back, with the sum over expert-tensor slices.
  void from_experts(const StageContext<Backend>& context, Tensor& local, Tensor& rows) const;
  // Whether rows stay as they are, in the memory they are in: nobody else has experts, or slices of
  // them.
  static bool stays_here(const StageContext<Backend>& context) {
    return context.sizes.ep == 1 && context.sizes.etp == 1;
  }

 private:
  // Counts of every source, [expert-tensor rank][source in the expert group][own expert].
  void gather_counts(const StageContext<Backend>& context,
                     std::span<const typename Backend::Index> rows_of_expert,
                     std::span<typename Backend::Index> counts) const;
  // What travels, of counts on the host: what this rank sends, then those of every source.
  void count_on_host(const StageContext<Backend>& context,
                     std::span<const typename Backend::Index> sent,
                     std::span<const typename Backend::Index> counts);

  IndexArray<Backend> rows_of_local_expert_;
  std::vector<std::int64_t> host_rows_;     // the same, if the host has them
  std::int64_t local_rows_ = 0;             // of all of them
  std::vector<std::size_t> sent_rows_;      // to each rank of the expert group
  std::vector<std::size_t> received_rows_;  // from each of them
  std::vector<std::size_t> slice_rows_;     // that each rank of the expert-tensor group brings
  IndexArray<Backend> order_;               // place by expert of every row as it arrives
};

}  // namespace llmb::runner
