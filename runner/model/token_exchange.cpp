#include "runner/model/token_exchange.h"

#include <numeric>

#include "runner/cpu/ops.h"

namespace llmb::runner {
namespace {

std::int64_t total(std::span<const std::size_t> counts) {
  return static_cast<std::int64_t>(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
}

// Of the row counts [source][expert], those of every source.
std::vector<std::size_t> sums_of_sources(std::span<const std::int64_t> counts,
                                         std::size_t sources) {
  std::vector<std::size_t> sums(sources);
  const std::size_t experts = counts.size() / sources;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    sums[i / experts] += static_cast<std::size_t>(counts[i]);
  }
  return sums;
}

// Elements that rows of `cols` have.
std::vector<std::size_t> elements(std::span<const std::size_t> rows, std::int64_t cols) {
  std::vector<std::size_t> counts(rows.begin(), rows.end());
  for (std::size_t& count : counts) count *= static_cast<std::size_t>(cols);
  return counts;
}

}  // namespace

template <typename Ops>
void TokenExchange<Ops>::plan(const StageContext& context,
                              std::span<const std::int64_t> rows_of_expert) {
  const auto ep = static_cast<std::size_t>(context.sizes.ep);
  const auto etp = static_cast<std::size_t>(context.sizes.etp);
  const std::size_t local_experts = rows_of_expert.size() / ep;

  // Counts [source in the expert group][own expert]
  std::vector<std::int64_t> counts(rows_of_expert.begin(), rows_of_expert.end());
  sent_rows_ = sums_of_sources(rows_of_expert, ep);
  if (ep > 1) {
    const std::vector<std::size_t> each(ep, local_experts);
    context.groups.expert->all_to_all(rows_of_expert, each, counts, each, "ep.row_counts");
  }
  received_rows_ = sums_of_sources(counts, ep);

  // Counts [expert-tensor rank][source in its expert group][own expert]
  std::vector<std::int64_t> all(counts.size() * etp);
  if (etp > 1) {
    context.groups.expert_tensor->all_gather(counts, all, "etp.row_counts");
  } else {
    all = counts;
  }
  slice_rows_ = sums_of_sources(all, etp);

  rows_of_local_expert_.assign(local_experts, 0);
  for (std::size_t i = 0; i < all.size(); ++i) rows_of_local_expert_[i % local_experts] += all[i];
  std::vector<std::int64_t> next(local_experts);
  std::exclusive_scan(rows_of_local_expert_.begin(), rows_of_local_expert_.end(), next.begin(),
                      std::int64_t{0});
  order_.clear();
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::int64_t row = 0; row < all[i]; ++row) {
      order_.push_back(next[i % local_experts]++);
    }
  }
}

template <typename Ops>
void TokenExchange<Ops>::to_experts(const StageContext& context, ConstView rows,
                                    Tensor& local) const {
  const std::int64_t cols = rows.cols;
  Tensor received;
  ConstView arrived = rows;
  if (context.sizes.ep > 1) {
    received.resize(total(received_rows_), cols);
    context.groups.expert->all_to_all(rows.values(), elements(sent_rows_, cols), received.values(),
                                      elements(received_rows_, cols), "ep.to_experts");
    arrived = received;
  }
  Tensor gathered;
  if (context.sizes.etp > 1) {
    // A gather of uneven parts: everybody sends the same to all.
    const auto etp = static_cast<std::size_t>(context.sizes.etp);
    Tensor copies(arrived.rows * context.sizes.etp, cols);
    for (std::int64_t i = 0; i < context.sizes.etp; ++i) {
      Ops::Elementwise::copy(arrived, copies.view().slice(i * arrived.rows, arrived.rows));
    }
    const std::vector<std::size_t> sent(etp, static_cast<std::size_t>(arrived.size()));
    gathered.resize(total(slice_rows_), cols);
    context.groups.expert_tensor->all_to_all(copies.values(), sent, gathered.values(),
                                             elements(slice_rows_, cols), "etp.to_slices");
    arrived = gathered;
  }
  local.resize(arrived.rows, cols);
  Ops::RowOrder::put(order_, arrived, local);
}

template <typename Ops>
void TokenExchange<Ops>::from_experts(const StageContext& context, ConstView local,
                                      Tensor& rows) const {
  const std::int64_t cols = local.cols;
  Tensor returning(local.rows, cols);
  Ops::RowOrder::take(order_, local, returning);
  if (context.sizes.etp > 1) {
    const std::int64_t own = total(received_rows_);
    const auto etp = static_cast<std::size_t>(context.sizes.etp);
    Tensor partial(own * context.sizes.etp, cols);
    const std::vector<std::size_t> expected(etp, static_cast<std::size_t>(own * cols));
    context.groups.expert_tensor->all_to_all(returning.values(), elements(slice_rows_, cols),
                                             partial.values(), expected, "etp.from_slices");
    returning.resize(own, cols);
    Ops::Elementwise::copy(partial.view().slice(0, own), returning);
    for (std::int64_t i = 1; i < context.sizes.etp; ++i) {
      Ops::Elementwise::add(partial.view().slice(i * own, own), returning);
    }
  }
  if (context.sizes.ep == 1) {
    std::swap(rows, returning);
    return;
  }
  rows.resize(total(sent_rows_), cols);
  context.groups.expert->all_to_all(returning.values(), elements(received_rows_, cols),
                                    rows.values(), elements(sent_rows_, cols), "ep.from_experts");
}

template class TokenExchange<cpu::Ops<float>>;
template class TokenExchange<cpu::Ops<double>>;

}  // namespace llmb::runner
