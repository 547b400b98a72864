#include "runner/nccl_trace_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "parser/reader/log_reader.h"
#include "runner/parallel/thread_communicator.h"

namespace llmb::runner {
namespace {

// The log of ranks that make one call of each kind.
std::string traced_log(int ranks) {
  std::mutex mutex;
  std::string log;
  run_thread_ranks(ranks, [&](World& world) {
    std::vector<int> all(static_cast<std::size_t>(ranks));
    for (int i = 0; i < ranks; ++i) all[static_cast<std::size_t>(i)] = i;
    const auto group = world.make_group("world", all);
    const TraceProcess process = this_trace_process(world.rank());
    group->set_observer([&](const Communicator& communicator, const CallRecord& call) {
      const std::lock_guard lock(mutex);
      log += nccl_trace_line(process, communicator, call);
    });
    std::vector<float> part(8);
    std::vector<float> whole(8 * static_cast<std::size_t>(ranks));
    std::vector<double> scalar(1);
    group->all_reduce(part, ReduceOp::sum, "test.sum");
    group->all_reduce(scalar, ReduceOp::max, "test.max");
    group->all_gather(part, whole, "test.gather");
    group->reduce_scatter(whole, part, "test.scatter");
    group->broadcast(part, 0, "test.broadcast");
    group->barrier("test.barrier");
    if (world.rank() == 0) group->send(part, 1, "test.message");
    if (world.rank() == 1) group->recv(part, 0, "test.message");
  });
  return log;
}

TEST(NcclTraceLog, IsReadAsATraceOfTheSameCalls) {
  const parser::LogFacts facts = parser::parse_log(traced_log(2)).facts;
  EXPECT_TRUE(facts.nccl_trace_seen);
  EXPECT_EQ(facts.nccl.torn_lines, 0);
  const auto calls_of = [&](std::string_view operation, std::int64_t count, int datatype) {
    for (const parser::NcclUse& use : facts.nccl.uses) {
      const bool is_it = use.operation == operation && use.element_count == count &&
                         use.datatype == datatype && use.rank_count == 2;
      if (is_it) return use.calls;
    }
    return std::int64_t{0};
  };
  EXPECT_EQ(calls_of("AllReduce", 8, 7), 2);
  EXPECT_EQ(calls_of("AllReduce", 1, 8), 2);
  EXPECT_EQ(calls_of("AllGather", 8, 7), 2);
  EXPECT_EQ(calls_of("ReduceScatter", 8, 7), 2);
  EXPECT_EQ(calls_of("Broadcast", 8, 7), 2);
  EXPECT_EQ(calls_of("Send", 8, 7), 1);
  EXPECT_EQ(facts.nccl.uses.size(), 7U);  // those, and Recv; no barrier
}

}  // namespace
}  // namespace llmb::runner
