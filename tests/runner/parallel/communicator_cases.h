// What every multi-rank communicator must do, as plain functions over one rank's World: the
// thread and the socket ranks run the same ones.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "runner/parallel/communicator.h"

namespace llmb::runner::testing {

inline std::vector<int> all_ranks(int size) {
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

// Numbers of very different sizes, so that another order of addition gives other bits.
template <typename T>
std::vector<T> rough_numbers(std::size_t count, int rank) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rank) * 7919 + 17);
  std::uniform_real_distribution<double> mantissa(-1, 1);
  std::uniform_int_distribution<int> exponent(-20, 20);
  std::vector<T> numbers(count);
  for (T& number : numbers) {
    number = static_cast<T>(std::ldexp(mantissa(random), exponent(random)));
  }
  return numbers;
}

// The slow oracle: rank 0's numbers, plus rank 1's, plus …
template <typename T>
std::vector<T> sum_in_rank_order(std::size_t count, int ranks) {
  std::vector<T> sums = rough_numbers<T>(count, 0);
  for (int rank = 1; rank < ranks; ++rank) {
    const std::vector<T> more = rough_numbers<T>(count, rank);
    for (std::size_t i = 0; i < count; ++i) sums[i] += more[i];
  }
  return sums;
}

template <typename T>
void expect_reductions_in_rank_order(World& world) {
  const auto comm = world.make_group("all", all_ranks(world.size()));
  const auto n = static_cast<std::size_t>(world.size());
  for (const std::size_t part : {std::size_t{1}, std::size_t{7}, std::size_t{5000}}) {
    const std::size_t count = part * n;
    const std::vector<T> expected = sum_in_rank_order<T>(count, world.size());
    std::vector<T> data = rough_numbers<T>(count, world.rank());
    comm->all_reduce(data, ReduceOp::sum, "sum");
    EXPECT_EQ(data, expected);
    const std::vector<T> all = rough_numbers<T>(count, world.rank());
    std::vector<T> mine(part, T{-1});
    comm->reduce_scatter(all, mine, "scatter");
    const auto first = expected.begin() +
                       static_cast<std::ptrdiff_t>(static_cast<std::size_t>(world.rank()) * part);
    EXPECT_EQ(mine, std::vector<T>(first, first + static_cast<std::ptrdiff_t>(part)));
    // In place, and there and back: the sum is then everywhere.
    std::vector<T> summed = all;
    const std::span<T> own =
        std::span(summed).subspan(static_cast<std::size_t>(world.rank()) * part, part);
    comm->reduce_scatter(summed, own, "scatter in place");
    EXPECT_EQ(std::vector<T>(own.begin(), own.end()), mine);
    comm->all_gather(own, summed, "gather in place");
    EXPECT_EQ(summed, expected);
    std::vector<T> largest = rough_numbers<T>(count, world.rank());
    comm->all_reduce(largest, ReduceOp::max, "max");
    std::vector<T> expected_max = rough_numbers<T>(count, 0);
    for (int rank = 1; rank < world.size(); ++rank) {
      const std::vector<T> more = rough_numbers<T>(count, rank);
      for (std::size_t i = 0; i < count; ++i) expected_max[i] = std::max(expected_max[i], more[i]);
    }
    EXPECT_EQ(largest, expected_max);
  }
}

inline void expect_moves(World& world) {
  const auto comm = world.make_group("all", all_ranks(world.size()));
  const auto n = static_cast<std::size_t>(world.size());
  const auto me = static_cast<std::size_t>(world.rank());
  const std::vector<std::int64_t> mine = {world.rank() * 10, world.rank() * 10 + 1};
  std::vector<std::int64_t> all(2 * n);
  comm->all_gather(mine, all, "gather");
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_EQ(all[2 * i], static_cast<std::int64_t>(i) * 10);
    EXPECT_EQ(all[2 * i + 1], static_cast<std::int64_t>(i) * 10 + 1);
  }
  // Rank i sends i + j elements of value 100 i + j to rank j; some of them none.
  std::vector<std::size_t> sent_counts(n);
  std::vector<std::size_t> received_counts(n);
  std::vector<float> sent;
  for (std::size_t j = 0; j < n; ++j) {
    sent_counts[j] = (me + j) % 3;
    received_counts[j] = (me + j) % 3;
    sent.insert(sent.end(), sent_counts[j], static_cast<float>(100 * me + j));
  }
  std::vector<float> received(
      std::accumulate(received_counts.begin(), received_counts.end(), std::size_t{0}));
  comm->all_to_all(sent, sent_counts, received, received_counts, "shuffle");
  std::size_t at = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < received_counts[i]; ++k) {
      EXPECT_EQ(received[at++], static_cast<float>(100 * i + me));
    }
  }
  std::vector<double> word(3, world.rank() == 1 ? 42.5 : 0);
  comm->broadcast(word, 1, "word");
  EXPECT_EQ(word, std::vector<double>(3, 42.5));
  comm->barrier("end");
}

// A ring of messages on two channels, sent before anybody receives, read in the other order.
inline void expect_messages(World& world) {
  const auto comm = world.make_group("ring", all_ranks(world.size()));
  const int next = (world.rank() + 1) % world.size();
  const int before = (world.rank() + world.size() - 1) % world.size();
  for (int i = 0; i < 10; ++i) {
    const std::vector<float> up(1000, static_cast<float>(world.rank() * 100 + i));
    const std::vector<double> down(3, world.rank() * 100.0 - i);
    comm->send(up, next, "ring.up");
    comm->send(down, before, "ring.down");
  }
  for (int i = 0; i < 10; ++i) {
    std::vector<double> down(3);
    comm->recv(down, next, "ring.down");
    EXPECT_EQ(down, std::vector<double>(3, next * 100.0 - i));
  }
  for (int i = 0; i < 10; ++i) {
    std::vector<float> up(1000);
    comm->recv(up, before, "ring.up");
    EXPECT_EQ(up, std::vector<float>(1000, static_cast<float>(before * 100 + i)));
  }
  // The same as exchanges, of which two are on their way at once.
  comm->open_exchanges("ring.exchange");
  std::vector<std::vector<float>> sent;
  std::vector<std::vector<float>> received(5, std::vector<float>(100));
  for (int i = 0; i < 5; ++i) {
    sent.emplace_back(100, static_cast<float>(world.rank() * 10 + i));
    comm->begin_exchange(OutgoingMessage{sent.back(), next},
                         IncomingMessage{received[static_cast<std::size_t>(i)], before},
                         "ring.exchange");
    if (i > 0) comm->end_exchange("ring.exchange");
  }
  comm->end_exchange("ring.exchange");
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(received[static_cast<std::size_t>(i)],
              std::vector<float>(100, static_cast<float>(before * 10 + i)));
  }
  EXPECT_THROW(comm->end_exchange("ring.exchange"), std::invalid_argument);
}

// Two kinds of groups at once: rows and columns of a grid of ranks, as tp and dp are.
inline void expect_groups_apart(World& world) {
  if (world.size() % 2 != 0) return;
  const int half = world.size() / 2;
  const int row = world.rank() / half;
  const int column = world.rank() % half;
  std::vector<int> row_ranks;
  for (int i = 0; i < half; ++i) row_ranks.push_back(row * half + i);
  const auto rows = world.make_group("row", row_ranks);
  const auto columns = world.make_group("column", {column, column + half});
  for (int round = 0; round < 20; ++round) {
    std::vector<std::int64_t> a = {world.rank()};
    rows->all_reduce(a, ReduceOp::sum, "row.sum");
    EXPECT_EQ(a[0], row * half * half + half * (half - 1) / 2);
    std::vector<std::int64_t> b = {world.rank()};
    columns->all_reduce(b, ReduceOp::sum, "column.sum");
    EXPECT_EQ(b[0], 2 * column + half);
  }
}

}  // namespace llmb::runner::testing
