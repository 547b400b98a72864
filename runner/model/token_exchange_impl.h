// The definitions of token_exchange.h: included where a backend is put together, once.
#pragma once

#include <numeric>

#include "runner/model/token_exchange.h"

namespace llmb::runner {
namespace detail {

inline std::int64_t total(std::span<const std::size_t> counts) {
  return static_cast<std::int64_t>(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
}

// Of the row counts [source][expert], those of every source.
template <typename Index>
std::vector<std::size_t> sums_of_sources(std::span<const Index> counts, std::size_t sources) {
  std::vector<std::size_t> sums(sources);
  const std::size_t experts = counts.size() / sources;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    sums[i / experts] += static_cast<std::size_t>(counts[i]);
  }
  return sums;
}

// Elements that rows of `cols` have.
inline std::vector<std::size_t> elements(std::span<const std::size_t> rows, std::int64_t cols) {
  std::vector<std::size_t> counts(rows.begin(), rows.end());
  for (std::size_t& count : counts) count *= static_cast<std::size_t>(cols);
  return counts;
}

}  // namespace detail

template <typename Backend>
void TokenExchange<Backend>::plan(const StageContext<Backend>& context,
                                  std::span<const typename Backend::Index> rows_of_expert) {
  using Index = typename Backend::Index;
  const auto ep = static_cast<std::size_t>(context.sizes.ep);
  const auto etp = static_cast<std::size_t>(context.sizes.etp);
  const std::size_t local_experts = rows_of_expert.size() / ep;

  // Counts [expert-tensor rank][source in the expert group][own expert], of which this rank's
  // expert group has its place, and before them what this rank sends.
  IndexArray<Backend> counts(context.ops, std::ssize(rows_of_expert) * (1 + context.sizes.etp));
  const std::span<Index> sent = counts.values().first(rows_of_expert.size());
  const std::span<Index> all = counts.values().subspan(rows_of_expert.size());
  const std::span<Index> mine = all.subspan(
      static_cast<std::size_t>(context.groups.expert_tensor->rank()) * rows_of_expert.size(),
      rows_of_expert.size());
  context.ops.template copy_elements<Index>(rows_of_expert, sent);
  IndexArray<Backend> arriving(context.ops, std::ssize(rows_of_expert));
  if (ep > 1) {
    const std::vector<std::size_t> each(ep, local_experts);
    context.groups.expert->all_to_all(rows_of_expert, each, arriving.values(), each,
                                      "ep.row_counts");
  } else {
    context.ops.template copy_elements<Index>(rows_of_expert, arriving.values());
  }
  if (etp > 1) {
    context.groups.expert_tensor->all_gather(arriving.values(), all, "etp.row_counts");
  } else {
    context.ops.template copy_elements<Index>(arriving.values(), mine);
  }

  const auto host = context.ops.read(counts.values());
  const std::span<const Index> on_host = host.values();
  const std::span<const Index> all_counts = on_host.subspan(rows_of_expert.size());
  sent_rows_ = detail::sums_of_sources(on_host.first(rows_of_expert.size()), ep);
  slice_rows_ = detail::sums_of_sources(all_counts, etp);
  received_rows_ = detail::sums_of_sources(
      all_counts.subspan(
          static_cast<std::size_t>(context.groups.expert_tensor->rank()) * rows_of_expert.size(),
          rows_of_expert.size()),
      ep);
  sort_arrivals(context, all_counts, local_experts);
}

template <typename Backend>
void TokenExchange<Backend>::sort_arrivals(const StageContext<Backend>& context,
                                           std::span<const typename Backend::Index> counts,
                                           std::size_t local_experts) {
  rows_of_local_expert_.assign(local_experts, 0);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    rows_of_local_expert_[i % local_experts] += counts[i];
  }
  std::vector<std::int64_t> next(local_experts);
  std::exclusive_scan(rows_of_local_expert_.begin(), rows_of_local_expert_.end(), next.begin(),
                      std::int64_t{0});
  std::vector<std::int64_t> order;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    for (std::int64_t row = 0; row < counts[i]; ++row) {
      order.push_back(next[i % local_experts]++);
    }
  }
  write_indices<Backend>(context.ops, order, order_);
}

template <typename Backend>
void TokenExchange<Backend>::to_experts(const StageContext<Backend>& context, ConstView rows,
                                        Tensor& local) const {
  const std::int64_t cols = rows.cols;
  Tensor received;
  ConstView arrived = rows;
  if (context.sizes.ep > 1) {
    received.resize(context.ops, detail::total(received_rows_), cols);
    context.groups.expert->all_to_all(rows.values(), detail::elements(sent_rows_, cols),
                                      received.values(), detail::elements(received_rows_, cols),
                                      "ep.to_experts");
    arrived = received;
  }
  Tensor gathered;
  if (context.sizes.etp > 1) {
    // A gather of uneven parts: everybody sends the same to all.
    const auto etp = static_cast<std::size_t>(context.sizes.etp);
    Tensor copies(context.ops, arrived.rows * context.sizes.etp, cols);
    for (std::int64_t i = 0; i < context.sizes.etp; ++i) {
      context.ops.copy(arrived, copies.view().slice(i * arrived.rows, arrived.rows));
    }
    const std::vector<std::size_t> sent(etp, static_cast<std::size_t>(arrived.size()));
    gathered.resize(context.ops, detail::total(slice_rows_), cols);
    context.groups.expert_tensor->all_to_all(copies.values(), sent, gathered.values(),
                                             detail::elements(slice_rows_, cols), "etp.to_slices");
    arrived = gathered;
  }
  local.resize(context.ops, arrived.rows, cols);
  context.ops.put_rows(order_.values(), arrived, local);
}

template <typename Backend>
void TokenExchange<Backend>::from_experts(const StageContext<Backend>& context, ConstView local,
                                          Tensor& rows) const {
  const std::int64_t cols = local.cols;
  Tensor returning(context.ops, local.rows, cols);
  context.ops.take_rows(order_.values(), local, returning);
  if (context.sizes.etp > 1) {
    const std::int64_t own = detail::total(received_rows_);
    const auto etp = static_cast<std::size_t>(context.sizes.etp);
    Tensor partial(context.ops, own * context.sizes.etp, cols);
    const std::vector<std::size_t> expected(etp, static_cast<std::size_t>(own * cols));
    context.groups.expert_tensor->all_to_all(returning.values(),
                                             detail::elements(slice_rows_, cols), partial.values(),
                                             expected, "etp.from_slices");
    returning.resize(context.ops, own, cols);
    context.ops.copy(partial.view().slice(0, own), returning);
    for (std::int64_t i = 1; i < context.sizes.etp; ++i) {
      context.ops.add(partial.view().slice(i * own, own), returning);
    }
  }
  if (context.sizes.ep == 1) {
    std::swap(rows, returning);
    return;
  }
  rows.resize(context.ops, detail::total(sent_rows_), cols);
  context.groups.expert->all_to_all(returning.values(), detail::elements(received_rows_, cols),
                                    rows.values(), detail::elements(sent_rows_, cols),
                                    "ep.from_experts");
}

}  // namespace llmb::runner
