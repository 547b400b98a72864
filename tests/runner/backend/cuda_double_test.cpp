// What only the double can show of the CUDA backend: streams that run late, and nodes without a
// device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <string_view>
#include <thread>

#include "runner/cuda/device.h"
#include "runner/cuda/device_error.h"
#include "runner/cuda/device_world.h"
#include "runner/cuda/host_device.h"
#include "runner/cuda/host_registry.h"
#include "runner/cuda/memory.h"
#include "runner/cuda/stream.h"
#include "runner/cuda_train_loop.h"
#include "runner/parallel/thread_communicator.h"
#include "tests/runner/backend/cuda_run.h"
#include "tests/runner/backend/small_models.h"
#include "tests/runner/cuda/changed_devices.h"

namespace llmb::runner {
namespace {

using testing::ChangedDevices;
using testing::expect_same;
using ::testing::HasSubstr;
using testing::kBatch;
using ::testing::Not;
using testing::small;
using testing::step_of;

// What an operation reads without waiting for what writes it is NaN then, each time.
TEST(CudaDouble, ShowsThatWorkIsInTheOrderOfTheStream) {
  const ChangedDevices late({.timing = cuda::HostTiming::late});
  const ModelSpec spec = small("pretrain_grok1", "314b");
  expect_same(step_of<cuda::Backend<float>>(spec, {}, kBatch, Precision::fp32),
              step_of<cpu::Backend<float>>(spec, {}, kBatch, Precision::fp32), 1e-5, 1e-4);
}

TEST(CudaDouble, ShowsThatRanksAreInTheOrderOfTheirStreams) {
  const ChangedDevices late({.timing = cuda::HostTiming::late});
  const ModelSpec spec = small("pretrain_llama3.1", "8b");
  expect_same(step_of<cuda::Backend<float>>(spec, {.tp = 2, .dp = 2}, kBatch, Precision::fp32),
              step_of<cpu::Backend<float>>(spec, {}, kBatch, Precision::fp32), 1e-5, 1e-4);
}

// A pass that does not wait for its message, or a message that is sent before it is there, is NaN.
TEST(CudaDouble, ShowsThatPassesWaitForTheirMessages) {
  const ChangedDevices late({.timing = cuda::HostTiming::late});
  const BatchSizes batch{1, 4};
  for (const ParallelSizes& sizes : {ParallelSizes{.pp = 4}, ParallelSizes{.pp = 2, .vp = 2}}) {
    const ModelSpec spec = small("pretrain_llama3.1", "8b", 4);
    expect_same(step_of<cuda::Backend<float>>(spec, sizes, batch, Precision::fp32),
                step_of<cpu::Backend<float>>(spec, {}, batch, Precision::fp32), 1e-5, 1e-4);
  }
}

// A stage that has begun to receive what comes back only after its own passes would wait for ever
// with the first kernel of these.
TEST(CudaDouble, ShowsThatNoMessageHoldsUpTheFirstLaunchesOfAStep) {
  const ChangedDevices lazy({.loads_at_first_launch = true});
  const BatchSizes batch{1, 4};
  for (const ParallelSizes& sizes : {ParallelSizes{.pp = 4}, ParallelSizes{.pp = 2, .vp = 2}}) {
    const ModelSpec spec = small("pretrain_llama3.1", "8b", 4);
    expect_same(step_of<cuda::Backend<float>>(spec, sizes, batch, Precision::fp32),
                step_of<cpu::Backend<float>>(spec, {}, batch, Precision::fp32), 1e-5, 1e-4);
  }
}

// What CUDA_MODULE_LOADING is for a run with these arguments.
std::string module_loading(const Arguments& arguments) {
  const ParsedOptions parsed = parse_options(shorter(arguments), {});
  const auto settings = make_run_settings(parsed.options, parser::embedded_catalog());
  choose_module_loading(settings.value());
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread is there
  const char* const value = std::getenv("CUDA_MODULE_LOADING");
  return value == nullptr ? "" : value;
}

TEST(CudaDouble, LoadsAllCodeBeforeAPipelineUnlessTheUserSaysOtherwise) {
  const Arguments pipeline = {"--global-batch-size", "2", "--pp", "2", "--vp", "1"};
  // NOLINTBEGIN(concurrency-mt-unsafe): no other thread is there
  unsetenv("CUDA_MODULE_LOADING");
  EXPECT_EQ(module_loading({"--global-batch-size", "2", "--dp", "2"}), "");
  EXPECT_EQ(module_loading(joined(pipeline, {"--rank-slice", "1"})), "");
  EXPECT_EQ(module_loading(pipeline), "EAGER");
  setenv("CUDA_MODULE_LOADING", "LAZY", 1);
  EXPECT_EQ(module_loading(pipeline), "LAZY");
  unsetenv("CUDA_MODULE_LOADING");
  // NOLINTEND(concurrency-mt-unsafe)
}

// All ranks have graphs, or none has: what one of them captured the other would not call.
TEST(CudaDouble, HasNoGraphsWhereOneRankIsRefusedThem) {
  const ModelSpec spec = small("pretrain_llama3.1", "8b");
  const auto steps = [&](bool has_graphs) {
    return step_of<cuda::Backend<float>>(spec, {.tp = 2}, kBatch, Precision::fp32, 3, {},
                                         {.has_graphs = has_graphs});
  };
  const testing::BackendStep expected = steps(false);
  for (const int without : {0, 1}) {
    const ChangedDevices one({.device_without_graphs = without});
    const testing::BackendStep refused = steps(true);
    EXPECT_EQ(refused.losses, expected.losses);
    EXPECT_EQ(refused.gradients, expected.gradients);
    EXPECT_EQ(refused.graph_use.launched, 0);
    EXPECT_EQ(refused.graph_use.is_refused_here, without == 0);
  }
  const ChangedDevices second({.device_without_graphs = 1});
  const Arguments run = shorter({"--steps", "4", "--global-batch-size", "2", "--tp", "2"});
  const std::string log = log_of(joined(run, {"--cuda-graphs", "true"}), true);
  EXPECT_EQ(losses_of(log), losses_of(log_of(run, true)));
  EXPECT_THAT(log, HasSubstr("rank 1 goes on without CUDA graphs from step 1 on: Could not make a "
                             "graph ready to launch: cudaErrorMemoryAllocation, out of memory."));
  EXPECT_THAT(log, HasSubstr("rank 0 goes on without CUDA graphs from step 1 on: 1 of the other "
                             "ranks could not capture"));
  EXPECT_THAT(log, Not(HasSubstr("captured 2")));
}

TEST(CudaDouble, IsRefusedWithoutADevice) {
  const ChangedDevices none({.device_count = 0});
  const auto refusal = no_device();
  ASSERT_TRUE(refusal);
  EXPECT_THAT(*refusal, HasSubstr("No CUDA GPUs are available"));
}

// With words that say what it is, before anything is on it.
TEST(CudaDouble, IsRefusedOnADeviceThatTheKernelsAreNotCompiledFor) {
  const ChangedDevices ada({.compute_capability = 89});
  try {
    log_of(shorter({"--steps", "1", "--global-batch-size", "1"}), true);
    FAIL() << "kernels of sm_90 ran on sm_89";
  } catch (const cuda::NoDevice& error) {
    EXPECT_THAT(error.what(), HasSubstr("Could not compute on device 0 (double): it is sm_89, this "
                                        "program has code for sm_90, sm_100."));
  }
}

// Of Hopper, which has FP8 and no blocks of it.
TEST(CudaDouble, IsRefusedBlocksWhereADeviceHasNone) {
  const ChangedDevices hopper({.compute_capability = 90});
  const auto arguments = [](const char* dtype) {
    return shorter({"--steps", "1", "--global-batch-size", "1", "--dtype", dtype});
  };
  EXPECT_EQ(losses_of(log_of(arguments("fp8_cs"), true)).size(), 1U);
  try {
    log_of(arguments("fp8_mx"), true);
    FAIL() << "blocks ran on sm_90";
  } catch (const cuda::NoDevice& error) {
    EXPECT_STREQ(error.what(),
                 "Could not train in MXFP8 (--dtype fp8_mx): device 0 (double) is sm_90, tensor "
                 "cores take blocks from sm_100 on. --dtype fp8_cs trains in FP8 with a scale for "
                 "each matrix.");
  }
}

// The 3 GiB of the reserve are not there: known before anything is allocated, and told with a plan
// that would fit.
TEST(CudaDouble, IsRefusedWhereADeviceHasLessThanThePlanNeeds) {
  const ChangedDevices small_ones({.memory_bytes = std::int64_t{2} << 30});
  const Arguments arguments = shorter({"--steps", "1", "--global-batch-size", "1"});
  try {
    log_of(arguments, true);
    FAIL() << "a plan of more than 3 GiB ran on 2";
  } catch (const DoesNotFit& error) {
    EXPECT_THAT(error.what(), HasSubstr("does not fit: CUDA out of memory, by the plan: 3.00 GiB"));
    EXPECT_THAT(error.what(), HasSubstr("rank 0's device 0 (double), of whose 2.00 GiB 0.00 are "
                                        "taken, has 2.00"));
  }
}

TEST(CudaDouble, HasADeviceForEachRankOfTheProcess) {
  const ChangedDevices one({.device_count = 1});
  try {
    log_of(shorter({"--steps", "1", "--global-batch-size", "2", "--dp", "2"}), true);
    FAIL() << "two ranks ran on one device";
  } catch (const cuda::NoDevice& error) {
    EXPECT_THAT(error.what(), HasSubstr("the layout has 2 ranks, each of which needs a device, and "
                                        "here are 1. Started by srun"));
  }
}

// Groups of the same ranks share one: data, experts' data, stage and world are the same two here.
TEST(CudaDouble, HasOneCommunicatorForEachListOfRanks) {
  const auto log_with = [](const Arguments& layout) {
    return log_of(shorter(joined({"--steps", "1", "--global-batch-size", "2"}, layout)), true);
  };
  EXPECT_THAT(
      log_with({"--dp", "2"}),
      HasSubstr("rank 0's communicators: 1, by threads, the CPU's double; to join took 0.0 MiB "
                "of the device, of "
                "128.0 planned"));
  EXPECT_THAT(
      log_with({"--tp", "2", "--dp", "2"}),
      HasSubstr("rank 0's communicators: 3, by threads, the CPU's double; to join took 0.0 MiB "
                "of the device, of "
                "384.0 planned"));
  // The pipeline, its two directions, and the world, which is the pipeline's list here.
  EXPECT_THAT(
      log_with({"--pp", "2", "--vp", "1"}),
      HasSubstr("rank 0's communicators: 3, by threads, the CPU's double; to join took 0.0 MiB "
                "of the device, of "
                "384.0 planned"));
  EXPECT_THAT(log_with({"--dp", "2"}),
              HasSubstr("after the last step communicators have taken 0.0 MiB of the device, with "
                        "what first calls and graphs made; "));
  EXPECT_THAT(log_with({"--dp", "1"}), Not(HasSubstr("rank 0's communicators")));
}

// Which of them called the shared one cannot be told.
TEST(CudaDouble, NamesAllGroupsThatShareACommunicatorThatFailed) {
  ThreadRanks ranks(2);
  std::jthread second([&] {
    const auto world = ranks.world(1);
    cuda::choose_device(1);
    const cuda::OwnedStream stream;
    cuda::DeviceWorld devices(*world, stream);
    const auto stage = devices.make_group("stage", {0, 1});
    const auto all = devices.make_group("world", {0, 1});
    world->abort("power cut");
  });
  const auto world = ranks.world(0);
  cuda::choose_device(0);
  const cuda::OwnedStream stream;
  cuda::DeviceWorld devices(*world, stream);
  const auto stage = devices.make_group("stage", {0, 1});
  const auto all = devices.make_group("world", {0, 1});
  const cuda::DeviceMemory word(sizeof(float));
  const Buffer data(word.data(), 1, ElementType::float32);
  try {
    all->all_reduce(data, ReduceOp::sum, "test");
    cuda::synchronize(stream);
    FAIL() << "a rank went on alone";
  } catch (const cuda::CommunicatorFailed& error) {
    EXPECT_THAT(error.what(), HasSubstr("communicate in stage, world [0, 1]"));
  }
}

// Rank 1 has done its only step and goes, while rank 0 waits for it on its device.
TEST(CudaDouble, TellsOfARankThatIsGoneAsRanksDo) {
  const auto run = [](World& world, const char* steps) {
    const ParsedOptions parsed = parse_options(
        shorter({"--steps", steps, "--global-batch-size", "2", "--dp", "2", "--product-plans", ""}),
        {});
    auto settings = make_run_settings(parsed.options, parser::embedded_catalog());
    settings->backend = Backend::cuda;
    std::ostringstream text;
    LogSink log(text);
    train_rank_on_cuda(world, world.rank(), 2, parsed.options, *settings, {log, nullptr});
  };
  ThreadRanks ranks(2);
  std::jthread second([&] {
    const auto world = ranks.world(1);
    run(*world, "1");
    world->abort("power cut");
  });
  try {
    run(*ranks.world(0), "2");
    FAIL() << "a rank went on alone";
  } catch (const CommunicationError& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank 1 failed: power cut"));
  }
}

// A world of one rank that notes what its device still held when the others were told of a failure.
class WatchedWorld final : public World {
 public:
  int rank() const override { return host_->rank(); }
  int size() const override { return host_->size(); }
  std::unique_ptr<Communicator> make_group(const std::string& name,
                                           const std::vector<int>& ranks) override {
    return host_->make_group(name, ranks);
  }
  void abort(const std::string& reason) override {
    if (told_.empty()) bytes_then_ = cuda::taken_host_memory(0);
    told_ = reason;
  }
  std::int64_t bytes_then() const { return bytes_then_; }
  const std::string& told() const { return told_; }

 private:
  ThreadRanks ranks_{1};
  std::unique_ptr<World> host_ = ranks_.world(0);
  std::int64_t bytes_then_ = 0;
  std::string told_;
};

// To end what NCCL has under way may take long, or for ever.
TEST(CudaDouble, TellsOthersOfAFailureBeforeWhatItHadGoes) {
  const ParsedOptions parsed =
      parse_options(shorter({"--steps", "1", "--global-batch-size", "1", "--product-plans", "",
                             "--load-checkpoint", "/there/is/none"}),
                    {});
  auto settings = make_run_settings(parsed.options, parser::embedded_catalog());
  ASSERT_TRUE(settings) << settings.error().message;
  settings->backend = Backend::cuda;
  std::ostringstream text;
  LogSink log(text);
  WatchedWorld world;
  EXPECT_THROW(train_rank_on_cuda(world, 0, 1, parsed.options, *settings, {log, nullptr}),
               std::runtime_error);
  EXPECT_THAT(world.told(), HasSubstr("/there/is/none"));
  EXPECT_GT(world.bytes_then(), 0);
}

// A process's device is what NCCL's own lines have, not the rank among all nodes'.
TEST(CudaDouble, TracesCallsOfTheDeviceThatTheyAreMadeOn) {
  const ParsedOptions parsed =
      parse_options(shorter({"--steps", "1", "--global-batch-size", "2", "--dp", "2",
                             "--product-plans", "", "--nccl-trace", "true"}),
                    {});
  auto settings = make_run_settings(parsed.options, parser::embedded_catalog());
  ASSERT_TRUE(settings) << settings.error().message;
  settings->backend = Backend::cuda;
  std::ostringstream text;
  LogSink log(text);
  constexpr int kFirstDevice = 5;
  run_thread_ranks(2, [&](World& world) {
    train_rank_on_cuda(world, kFirstDevice + world.rank(), 2, parsed.options, *settings,
                       {log, nullptr});
  });
  EXPECT_THAT(text.str(), HasSubstr(" [5] NCCL INFO AllReduce"));
  EXPECT_THAT(text.str(), HasSubstr(" [6] NCCL INFO AllReduce"));
  EXPECT_THAT(text.str(), Not(HasSubstr(" [0] NCCL INFO")));
}

// A log of one rank whose device has nothing left once its arena is there.
class TakesAllMemory : public std::stringbuf {
 public:
  ~TakesAllMemory() override { cuda::give_back_host_memory(0, taken_); }

 protected:
  std::streamsize xsputn(const char* text, std::streamsize count) override {
    const std::string_view written(text, static_cast<std::size_t>(count));
    if (taken_ == 0 && written.find("no clocks, power or energy") != written.npos) {
      taken_ = static_cast<std::size_t>(cuda::memory_info().free_bytes);
      EXPECT_TRUE(cuda::take_host_memory(0, taken_));
    }
    return std::stringbuf::xsputn(text, count);
  }

 private:
  std::size_t taken_ = 0;
};

// Tensors are so small here that the granules of a pool outgrow its arena.
TEST(CudaDouble, TellsThePlanWhereARunNeedsMoreThanThereIs) {
  const ParsedOptions parsed =
      parse_options(shorter({"--hidden-size", "8", "--ffn-hidden-size", "8", "--seq-length", "8",
                             "--steps", "2", "--global-batch-size", "1", "--product-plans", ""}),
                    {});
  auto settings = make_run_settings(parsed.options, parser::embedded_catalog());
  ASSERT_TRUE(settings) << settings.error().message;
  settings->backend = Backend::cuda;
  TakesAllMemory buffer;
  std::ostream text(&buffer);
  LogSink log(text);
  try {
    train_on_cuda(parsed.options, *settings, {log, nullptr});
    FAIL() << "more memory was there";
  } catch (const DoesNotFit& error) {
    EXPECT_THAT(error.what(), HasSubstr("does not fit: CUDA out of memory in the run of rank 0: "
                                        "Could not allocate "));
    EXPECT_THAT(error.what(), HasSubstr("for stage 0 3.00 GiB were planned"));
    EXPECT_THAT(error.what(), HasSubstr("have taken more of the device than the reserve"));
  }
}

// Not even attention, which is asked for its workspace, has been made by then.
TEST(CudaDouble, IsRefusedByThePlanBeforeAnythingIsAllocated) {
  const ChangedDevices full({.memory_bytes = 64});
  EXPECT_THROW(
      log_of(shorter({"--steps", "1", "--global-batch-size", "1", "--dtype", "bf16"}), true),
      DoesNotFit);
}

}  // namespace
}  // namespace llmb::runner
