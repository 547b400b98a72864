// The definitions of token_exchange.h: included where a backend is put together, once.
#pragma once

#include <numeric>
#include <utility>

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
void TokenExchange<Backend>::gather_counts(const StageContext<Backend>& context,
                                           std::span<const typename Backend::Index> rows_of_expert,
                                           std::span<typename Backend::Index> counts) const {
  using Index = typename Backend::Index;
  const auto ep = static_cast<std::size_t>(context.sizes.ep);
  const std::span<Index> mine = counts.subspan(
      static_cast<std::size_t>(context.groups.expert_tensor->rank()) * rows_of_expert.size(),
      rows_of_expert.size());
  if (ep > 1) {
    const std::vector<std::size_t> each(ep, rows_of_expert.size() / ep);
    context.groups.expert->all_to_all(rows_of_expert, each, mine, each, "ep.row_counts");
  } else {
    context.ops.template copy_elements<Index>(rows_of_expert, mine);
  }
  if (context.sizes.etp > 1) {
    IndexArray<Backend> own(context.ops, std::ssize(mine));
    context.ops.template copy_elements<Index>(mine, own.values());
    context.groups.expert_tensor->all_gather(own.values(), counts, "etp.row_counts");
  }
}

template <typename Backend>
void TokenExchange<Backend>::count_on_host(const StageContext<Backend>& context,
                                           std::span<const typename Backend::Index> sent,
                                           std::span<const typename Backend::Index> counts) {
  const auto ep = static_cast<std::size_t>(context.sizes.ep);
  sent_rows_ = detail::sums_of_sources(sent, ep);
  slice_rows_ = detail::sums_of_sources(counts, static_cast<std::size_t>(context.sizes.etp));
  received_rows_ = detail::sums_of_sources(
      counts.subspan(static_cast<std::size_t>(context.groups.expert_tensor->rank()) * sent.size(),
                     sent.size()),
      ep);
  const std::size_t local_experts = sent.size() / ep;
  host_rows_.assign(local_experts, 0);
  for (std::size_t i = 0; i < counts.size(); ++i) host_rows_[i % local_experts] += counts[i];
}

template <typename Backend>
void TokenExchange<Backend>::plan(const StageContext<Backend>& context,
                                  std::span<const typename Backend::Index> rows_of_expert,
                                  std::int64_t rows) {
  using Index = typename Backend::Index;
  // What this rank sends, and the counts of every source.
  IndexArray<Backend> all(context.ops, std::ssize(rows_of_expert) * (1 + context.sizes.etp));
  const std::span<Index> counts = all.values().subspan(rows_of_expert.size());
  context.ops.template copy_elements<Index>(rows_of_expert,
                                            all.values().first(rows_of_expert.size()));
  gather_counts(context, rows_of_expert, counts);
  host_rows_.clear();
  if (!context.counts_experts_on_device()) {
    const auto host = context.ops.read(all.values());
    count_on_host(context, host.values().first(rows_of_expert.size()),
                  host.values().subspan(rows_of_expert.size()));
  } else {
    // Every slice has as many rows as this one.
    sent_rows_ = received_rows_ = {static_cast<std::size_t>(rows)};
    slice_rows_.assign(static_cast<std::size_t>(context.sizes.etp), static_cast<std::size_t>(rows));
  }
  local_rows_ = detail::total(slice_rows_);
  rows_of_local_expert_.resize(context.ops, std::ssize(rows_of_expert) / context.sizes.ep);
  if (stays_here(context)) {
    context.ops.template copy_elements<Index>(rows_of_expert, rows_of_local_expert_.values());
    return;
  }
  order_.resize(context.ops, local_rows_);
  context.ops.order_arrivals(counts, order_.values(), rows_of_local_expert_.values());
}

template <typename Backend>
void TokenExchange<Backend>::to_experts(const StageContext<Backend>& context, Tensor& rows,
                                        Tensor& local) const {
  if (stays_here(context)) return std::swap(rows, local);
  const std::int64_t cols = rows.cols();
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
void TokenExchange<Backend>::from_experts(const StageContext<Backend>& context, Tensor& local,
                                          Tensor& rows) const {
  if (stays_here(context)) return std::swap(local, rows);
  const std::int64_t cols = local.cols();
  Tensor returning(context.ops, local.rows(), cols);
  context.ops.take_rows(order_.values(), local, returning);
  if (context.sizes.etp > 1) {
    const std::int64_t own = detail::total(received_rows_);
    const auto etp = static_cast<std::size_t>(context.sizes.etp);
    Tensor partial(context.ops, own * context.sizes.etp, cols);
    const std::vector<std::size_t> expected(etp, static_cast<std::size_t>(own * cols));
    context.groups.expert_tensor->all_to_all(returning.values(),
                                             detail::elements(slice_rows_, cols), partial.values(),
                                             expected, "etp.from_slices");
    returning = {};  // kept for a while, it is to have its own size
    Tensor& sum = context.sizes.ep == 1 ? rows : returning;
    sum.resize(context.ops, own, cols);
    context.ops.copy(partial.view().slice(0, own), sum);
    for (std::int64_t i = 1; i < context.sizes.etp; ++i) {
      context.ops.add(partial.view().slice(i * own, own), sum);
    }
  }
  if (context.sizes.ep == 1) return;
  rows.resize(context.ops, detail::total(sent_rows_), cols);
  context.groups.expert->all_to_all(returning.values(), detail::elements(received_rows_, cols),
                                    rows.values(), detail::elements(sent_rows_, cols),
                                    "ep.from_experts");
}

}  // namespace llmb::runner
