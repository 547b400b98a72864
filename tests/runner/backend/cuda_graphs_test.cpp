// Passes as CUDA graphs against the same passes as they are, over the double and on a device, where
// one rank has the whole model; cuda_graph_layouts_test.cpp has the layouts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/cuda/device_error.h"
#include "runner/cuda/gemm.h"
#include "tests/runner/backend/graph_bits.h"

namespace llmb::runner {
namespace {

using kernels::Bf16;
using testing::BackendStep;
using ::testing::ContainsRegex;
using testing::CudaGraphs;
using testing::expect_same_bits;
using testing::GraphCase;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::small;
using testing::small_maverick;
using testing::step_of_graph_case;

TEST_F(CudaGraphs, AreTheBitsOfEveryFamily) {
  expect_same_bits({.spec = small("pretrain_llama3.1", "8b")}, 2);
  expect_same_bits<float>(
      {.spec = small("pretrain_nemotron4", "15b"), .precision = Precision::fp32}, 2);
  expect_same_bits({.spec = small("pretrain_grok1", "314b")}, 2);
  expect_same_bits({.spec = small_maverick()}, 2);
}

TEST_F(CudaGraphs, AreTheBitsWhereLayersAreRecomputed) {
  expect_same_bits({.spec = small("pretrain_llama3.1", "8b"), .options = {.recomputed_layers = 1}},
                   2);
}

// Scales by current and by earlier maxima, copies that are kept for a step and that are not.
TEST_F(CudaGraphs, AreTheBitsOfFp8) {
  const ModelSpec spec = small("pretrain_llama3.1", "8b");
  expect_same_bits({.spec = spec, .precision = Precision::fp8_current}, 2);
  expect_same_bits(
      {.spec = spec, .precision = Precision::fp8_delayed, .options = {.keeps_fp8_weights = true}},
      2);
  const ModelSpec grok = small("pretrain_grok1", "314b");
  expect_same_bits({.spec = grok, .precision = Precision::fp8_current}, 2);
  expect_same_bits(
      {.spec = grok, .precision = Precision::fp8_delayed, .options = {.keeps_fp8_weights = true}},
      2);
  if (!cuda::why_no_mxfp8().empty()) return;
  expect_same_bits({.spec = spec, .precision = Precision::mxfp8}, 2);
}

// The host may not wait within a pass; where it does, passes run as they are.
TEST_F(CudaGraphs, AreGivenUpWhereTheHostReadsInAPass) {
  GraphCase library{.spec = small("pretrain_grok1", "314b")};
  library.options.expert_counts = ExpertCounts::on_host;
  const BackendStep as_it_is = step_of_graph_case<Bf16>(library, false);
  const BackendStep refused = step_of_graph_case<Bf16>(library, true);
  EXPECT_EQ(refused.losses, as_it_is.losses);
  EXPECT_EQ(refused.gradients, as_it_is.gradients);
  EXPECT_EQ(refused.graph_use.launched, 0);
  EXPECT_TRUE(refused.graph_use.is_refused_here);
  EXPECT_THAT(refused.graph_use.why_none, HasSubstr("cudaErrorStreamCapture"));
}

// A pass that doubles what is in `x` by way of memory that it takes and gives back.
struct Doubling {
  cuda::Ops<float> ops;
  cuda::Tensor<float> x;
  cuda::PassGraphs passes;

  Doubling() : x(ops, 1, 1000), passes(ops.make_passes()) {
    ops.fill(x.values(), 1.0F);
    cuda::Tensor<float>(ops, 1, 8000);  // for the pass
  }
  void run(cuda::PassMode mode, double loss_scale = 1) {
    ops.run_passes(mode);
    passes.run({1, loss_scale, {x.data()}}, {}, [&] {
      cuda::Tensor<float> copy(ops, 1, 1000);
      ops.copy(x, copy);
      ops.add(copy, x);
    });
  }
  float value() { return ops.read(x.values()).values()[999]; }
};

// A deep pipeline has more micro-batches under way than any fixed number.
TEST_F(CudaGraphs, AreKeptForAsManyMicroBatchesAsWerePrepared) {
  constexpr int kStates = 40;
  Doubling doubling;
  doubling.run(cuda::PassMode::at_fixed_places);
  doubling.ops.run_passes(cuda::PassMode::as_graphs);
  const auto pass = [&] { doubling.ops.add(doubling.x, doubling.x); };
  for (int state = 0; state < kStates; ++state) doubling.passes.prepare({state, 1, {}}, {}, pass);
  for (int turn = 0; turn < 2; ++turn) {
    for (int state = 0; state < kStates; ++state) doubling.passes.run({state, 1, {}}, {}, pass);
  }
  EXPECT_EQ(doubling.ops.graph_use().captured, kStates);
  EXPECT_EQ(doubling.ops.graph_use().launched, 2 * kStates);
}

TEST_F(CudaGraphs, AreLaunchedAgainOnlyWhereTheirMemoryIsFree) {
  Doubling doubling;
  doubling.run(cuda::PassMode::at_fixed_places);
  for (int i = 0; i < 3; ++i) doubling.run(cuda::PassMode::as_graphs);
  EXPECT_EQ(doubling.value(), 16);
  EXPECT_EQ(doubling.ops.graph_use().captured, 1);
  {
    cuda::Tensor<float> in_its_place(doubling.ops, 1, 1000);
    doubling.ops.fill(in_its_place.values(), 5.0F);
    doubling.run(cuda::PassMode::as_graphs);
    EXPECT_EQ(doubling.ops.read(in_its_place.values()).values()[0], 5) << "is nobody else's";
    EXPECT_EQ(doubling.ops.graph_use().captured, 2);
    doubling.run(cuda::PassMode::as_graphs);
    EXPECT_EQ(doubling.ops.graph_use().captured, 2) << "the one beside it serves again";
  }
  doubling.run(cuda::PassMode::as_graphs);
  EXPECT_EQ(doubling.value(), 128);
  EXPECT_EQ(doubling.ops.graph_use().captured, 2);
  EXPECT_EQ(doubling.ops.graph_use().launched, 6);
  doubling.run(cuda::PassMode::as_graphs, 0.5);
  EXPECT_EQ(doubling.ops.graph_use().captured, 3) << "kernels would be given the other number";
}

// The same later on, of a rank that talks to nobody.
TEST_F(CudaGraphs, AreGivenUpWhereAPassThatMovedIsRefused) {
  Doubling doubling;
  doubling.run(cuda::PassMode::at_fixed_places);
  doubling.run(cuda::PassMode::as_graphs);
  doubling.passes.run({2, 1.0, {}}, {}, [&] {
    doubling.ops.add(doubling.x, doubling.x);
    doubling.ops.finish();
  });
  EXPECT_EQ(doubling.value(), 8) << "once, and not as a graph";
  EXPECT_THAT(doubling.ops.graph_use().why_none, HasSubstr("cudaErrorStreamCapture"));
  doubling.run(cuda::PassMode::as_graphs);
  EXPECT_EQ(doubling.value(), 16);
  EXPECT_EQ(doubling.ops.graph_use().launched, 1);
}

// A rank that goes on without graphs would wait for the one that is gone.
TEST_F(CudaGraphs, AreNotGivenUpWhereAnotherRankIsGone) {
  Doubling doubling;
  doubling.run(cuda::PassMode::at_fixed_places);
  doubling.ops.run_passes(cuda::PassMode::as_graphs);
  const auto lose_device = [] { throw cuda::CommunicatorFailed("world [0, 1]", "rank 1 is gone"); };
  const auto lose_host = [] { throw CommunicationError("rank 1 is gone"); };
  EXPECT_THROW(doubling.passes.run({2, 1.0, {}}, {}, lose_device), cuda::CommunicatorFailed);
  EXPECT_THROW(doubling.passes.run({2, 1.0, {}}, {}, lose_host), CommunicationError);
  EXPECT_THROW(doubling.ops.prepare_graphs(lose_device), cuda::CommunicatorFailed);
  EXPECT_THROW(doubling.ops.prepare_graphs(lose_host), CommunicationError);
  EXPECT_EQ(doubling.ops.graph_use().why_none, "");
}

// It would be written once, and be the same in every launch.
TEST_F(CudaGraphs, HaveNothingThatTheHostWrites) {
  Doubling doubling;
  doubling.ops.run_passes(cuda::PassMode::as_graphs);
  const std::vector<float> host(1000, 3.0F);
  EXPECT_THROW(doubling.passes.run({1, 1.0, {}}, {},
                                   [&] { doubling.ops.write<float>(host, doubling.x.values()); }),
               std::logic_error);
  EXPECT_EQ(doubling.value(), 1) << "and the stream is well";
}

const Arguments kRun = {"--steps", "4", "--global-batch-size", "2"};

TEST_F(CudaGraphs, AreSaidInTheLog) {
  const std::string as_it_is = log_of(shorter(kRun), true);
  const std::string graphs = log_of(shorter(joined(kRun, {"--cuda-graphs", "true"})), true);
  EXPECT_EQ(losses_of(graphs), losses_of(as_it_is));
  EXPECT_THAT(as_it_is, Not(HasSubstr("graph")));
  EXPECT_THAT(graphs, HasSubstr("llmb-step-runner: from the second step on, each pass of a "
                                "micro-batch is a CUDA graph"));
  EXPECT_THAT(graphs, HasSubstr("step 1 captured 2 of the passes as CUDA graphs, with "));
  EXPECT_THAT(graphs, ContainsRegex("the driver took [0-9.]+ MiB of the device for them, of "
                                    "[0-9.]+ planned"));
  EXPECT_THAT(graphs, Not(HasSubstr("elsewhere")));
}

TEST_F(CudaGraphs, AreNotWhereTheHostKnowsTheExperts) {
  const std::string log =
      log_of(tiny_grok({"--num-layers", "1", "--steps", "3", "--global-batch-size", "2",
                        "--cuda-graphs", "true", "--expert-products", "library"}),
             true);
  EXPECT_EQ(losses_of(log).size(), 3U);
  EXPECT_THAT(log, HasSubstr("llmb-step-runner: no CUDA graphs: the library's products of experts "
                             "let the host wait in every pass"));
  EXPECT_THAT(log, Not(HasSubstr("captured")));
}

// Operations that are profiled are seen one by one, and calls are counted whoever makes them.
TEST_F(CudaGraphs, LeaveProfilesAndCountsAsTheyAre) {
  if (cuda::count_devices().count < 2) GTEST_SKIP() << "two devices are needed";
  const auto phases_of = [](const char* are_wanted) {
    std::ostringstream phases;
    log_of(shorter(joined(kRun, {"--tp", "2", "--cuda-graphs", are_wanted})), true,
           std::int64_t{80} << 30, &phases);
    return phases.str();
  };
  const auto calls_of = [](const std::string& phases) {
    static const std::regex calls("\"calls\":[0-9]+,\"bytes_sent\":[0-9]+");
    std::vector<std::string> all;
    for (std::sregex_iterator at(phases.begin(), phases.end(), calls), end; at != end; ++at) {
      all.push_back(at->str());
    }
    return all;
  };
  const auto calls = calls_of(phases_of("false"));
  EXPECT_GE(calls.size(), 4U);
  EXPECT_EQ(calls_of(phases_of("true")), calls);
  const std::string profiled =
      log_of(shorter(joined(kRun, {"--profile", "--profile-start-step", "2", "--profile-stop-step",
                                   "3", "--cuda-graphs", "true"})),
             true);
  EXPECT_THAT(profiled, HasSubstr("attention.backward "));
  EXPECT_THAT(profiled, HasSubstr("step 1 captured 2"));
}

}  // namespace
}  // namespace llmb::runner
