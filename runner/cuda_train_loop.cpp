#include "runner/cuda_train_loop.h"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "runner/cuda/backend.h"
#include "runner/cuda/ceilings.h"
#include "runner/cuda/collectives.h"
#include "runner/cuda/device.h"
#include "runner/cuda/device_error.h"
#include "runner/cuda/device_meter.h"
#include "runner/cuda/device_world.h"
#include "runner/cuda/gemm.h"
#include "runner/cuda_attention_use.h"
#include "runner/cuda_collective_ceilings.h"
#include "runner/cuda_product_plans.h"
#include "runner/parallel/loopback_communicator.h"
#include "runner/parallel/thread_communicator.h"
#include "runner/plan/ceiling_shapes.h"
#include "runner/plan/memory_plan.h"
#include "runner/plan/pass_graphs.h"
#include "runner/plan/plan_text.h"
#include "runner/plan/text_format.h"
#include "runner/rank_run.h"

namespace llmb::runner {
namespace {

// What the rank that is profiled sustains of its model's shapes, before a run takes the memory; of
// collectives all ranks together.
OpCeilings profile_ceilings(World& world, const Options& options, const RunSettings& settings,
                            const Layout& layout, LogSink& log) {
  OpCeilings ceilings;
  constexpr double kSecondsEach = 0.2;
  if (!options.enable_profile) return ceilings;
  if (world.size() > 1 && !settings.rank_slice) {
    measure_collectives(world, settings, layout, kSecondsEach,
                        [&](const Ceiling& ceiling) { ceilings.add(ceiling); });
  }
  if (world.rank() != 0 && !settings.rank_slice) return ceilings;
  constexpr std::int64_t kCopyBytes = std::int64_t{1} << 28;
  CeilingShapes shapes = ceiling_shapes(settings);
  shapes.copy_bytes = kCopyBytes;
  cuda::measure_ceilings(
      shapes, settings.expert_counts == ExpertCounts::on_device,
      {.seconds = kSecondsEach, .numbers = product_numbers(settings.precision)},
      [&](const Ceiling& ceiling) {
        ceilings.add(ceiling);
        if (ceiling.why_not.empty()) return;
        log.write(fmt::format("llmb-step-runner: the profile has no ceiling of {}: {}\n",
                              ceiling.name, ceiling.why_not));
      });
  return ceilings;
}

// What this rank's pool is to have, in one piece. Throws DoesNotFit where the device has less left
// than the plan says, which is known before anything of the run is on it.
std::int64_t arena_bytes(const World& world, const RunSettings& settings, const Layout& layout,
                         const cuda::DeviceInfo& device) {
  constexpr double kGibi = 1024.0 * 1024.0 * 1024.0;
  const MemoryPlan plan = make_memory_plan(settings);
  const StageBytes& stage =
      plan.stages.at(static_cast<std::size_t>(layout.place_of(world.rank()).pp));
  const cuda::MemoryInfo memory = cuda::memory_info();
  const std::int64_t plannable = plannable_bytes(stage, memory.total_bytes, memory.free_bytes);
  if (stage.total() <= plannable) return stage.arena();
  const auto gib = [](std::int64_t bytes) { return static_cast<double>(bytes) / kGibi; };
  throw DoesNotFit(does_not_fit_text(
      settings, plan, plannable,
      fmt::format("rank {}'s device {} ({}), of whose {:.2f} GiB {:.2f} are taken,", world.rank(),
                  device.index, device.name, gib(memory.total_bytes),
                  gib(memory.total_bytes - memory.free_bytes))));
}

std::string attention_text(const AttentionUse& use) {
  return fmt::format("llmb-step-runner: attention by {}, {:.3f} MiB of workspace in the plan\n",
                     use.implementation, mebibytes(use.workspace_bytes));
}

template <typename T>
void pin_products(cuda::Ops<T>& ops, const World& world, const ProductPlans& plans, LogSink& log) {
  if (plans.json.empty()) return;
  const std::string why_not = ops.pin_plans(plans.json);
  if (why_not.empty()) return;
  log.write(fmt::format(
      "llmb-step-runner: rank {} multiplies by the library's suggestions, not as rank 0 does: {}\n",
      world.rank(), why_not));
}

// What the side file will not have; nothing where it has all.
std::string lacking_text(const cuda::DeviceMeter& meter) {
  const auto text = [](const char* what, const std::string& why) {
    return why.empty() ? "" : fmt::format("llmb-step-runner: no {}: {}\n", what, why);
  };
  return text("clocks, power or energy", meter.why_nothing()) +
         text("power or energy", meter.why_no_energy());
}

// In `arena` bytes of the device, and in more where these are not enough. Throws DoesNotFit where
// the device has no more.
template <typename T>
void train_in(std::int64_t arena, cuda::Ops<T>& ops, World& world, const Options& options,
              const RunSettings& settings, const Layout& layout, const cuda::DeviceInfo& device,
              TrainOutput output, OpCeilings ceilings) {
  std::optional<cuda::DeviceWorld> devices;
  std::optional<cuda::DeviceMeter> meter;
  std::optional<RankRun<cuda::Backend<T>>> run;
  const auto train = [&] {
    ops.reserve(arena);
    devices.emplace(world, ops.stream(),
                    settings.rank_slice ? cuda::Peers::own_copies : cuda::Peers::others,
                    &ops.profile());
    meter.emplace(device.pci_address, world.rank(),
                  [&log = output.log](const std::string& line) { log.write(line); });
    if (world.rank() == 0 || settings.rank_slice) output.log.write(lacking_text(*meter));
    DeviceUseSource device_use = [&meter] { return meter->take(); };
    const std::int64_t free_before = cuda::memory_info().free_bytes;
    run.emplace(ops, *devices, options, settings, layout, output, std::move(ceilings),
                std::move(device_use));
    const int communicators = devices->communicators_joined();
    const bool tells = communicators > 0 && world.rank() == 0;
    if (tells) {
      output.log.write(joined_text(settings, communicators, cuda::collectives_library(),
                                   free_before, cuda::memory_info().free_bytes));
    }
    run->train();
    if (tells) {
      output.log.write(taken_at_the_end_text(free_before, cuda::memory_info().free_bytes));
    }
  };
  try {
    // The others are told here, before the run goes: its communicators are aborted then, which may
    // take long, or for ever.
    run_own_rank(world, train);
  } catch (const cuda::OutOfDeviceMemory& error) {
    throw DoesNotFit(ran_out_text(settings, run ? run->trainer().memory_use() : MemoryUse{},
                                  layout.place_of(world.rank()).pp, world.rank(), error.what()));
  }
}

template <typename T>
void run_rank_of(World& world, const Options& options, RunSettings settings, const Layout& layout,
                 const cuda::DeviceInfo& device, TrainOutput output) {
  arena_bytes(world, settings, layout, device);  // by count, before anything is on the device
  cuda::Ops<T> ops;
  const AttentionUse attention = prepare_attention(ops, settings, layout, world.rank());
  settings.attention_workspace_bytes = attention.workspace_bytes;
  const bool tells = world.rank() == 0 || settings.rank_slice;
  if (tells) output.log.write(attention_text(attention));
  const ProductPlans plans = agree_on_product_plans(world, options, settings, output.log);
  settings.expert_counts = plans.expert_counts;
  if (const std::string graphs = graphs_text(settings); !graphs.empty() && tells) {
    output.log.write("llmb-step-runner: " + graphs);
  }
  settings.wants_graphs = has_graphs(settings);
  const std::int64_t arena = arena_bytes(world, settings, layout, device);
  OpCeilings ceilings = profile_ceilings(world, options, settings, layout, output.log);
  pin_products(ops, world, plans, output.log);
  train_in(arena, ops, world, options, settings, layout, device, output, std::move(ceilings));
}

bool is_in_a_pipeline(const RunSettings& settings) {
  return settings.sizes.pp > 1 && !settings.rank_slice;
}

// Where the user, or an image, has chosen what a pipeline may hang by.
std::string module_loading_text(const RunSettings& settings) {
  const char* const chosen = std::getenv("CUDA_MODULE_LOADING");  // NOLINT(concurrency-mt-unsafe)
  const std::string_view value = chosen == nullptr ? "" : chosen;
  if (!is_in_a_pipeline(settings) || value == "EAGER") return "";
  return fmt::format(
      "llmb-step-runner: CUDA_MODULE_LOADING={}: a kernel that is launched for the first time in a "
      "later step waits for the pipeline's messages, and may wait for ever; EAGER loads all at "
      "once\n",
      value);
}

void run_rank(World& world, int local_rank, const Options& options, const RunSettings& settings,
              TrainOutput output) {
  const Layout layout = run_layout(settings);
  const cuda::DeviceInfo device = cuda::choose_device(local_rank);
  if (settings.precision == Precision::mxfp8) {
    if (const std::string why_not = cuda::why_no_mxfp8(); !why_not.empty()) {
      throw cuda::NoDevice("train in MXFP8 (--dtype fp8_mx)", why_not, "",
                           "--dtype fp8_cs trains in FP8 with a scale for each matrix.");
    }
  }
  if (world.rank() == 0 || settings.rank_slice) {
    output.log.write(run_preamble(settings) + module_loading_text(settings) +
                     fmt::format("llmb-step-runner: device {} ({}), {}\n", device.index,
                                 device.name, cuda::runtime_name()));
  }
  try {
    settings.precision == Precision::fp32
        ? run_rank_of<float>(world, options, settings, layout, device, output)
        : run_rank_of<kernels::Bf16>(world, options, settings, layout, device, output);
  } catch (const cuda::CommunicatorFailed& error) {
    throw PeerFailure(error.what());
  }
}

}  // namespace

// Exchanges begin so late that the first pass of each kind is safe anyway (schedule/rendezvous.h):
// this is for what is launched for the first time later on, as a library's kernels are for other
// counts of rows. It takes seconds and memory, so without a pipeline CUDA's default stays.
void choose_module_loading(const RunSettings& settings) {
  if (!is_in_a_pipeline(settings)) return;
  constexpr int kKeepWhatIsSet = 0;
  setenv("CUDA_MODULE_LOADING", "EAGER", kKeepWhatIsSet);  // NOLINT(concurrency-mt-unsafe)
}

std::optional<std::string> no_device() {
  const cuda::DeviceCount devices = cuda::count_devices();
  if (devices.count > 0) return {};
  return fmt::format(
      "No CUDA GPUs are available to this program: {}. --backend cpu trains a proxy on this "
      "machine's CPUs, and --dry-run prints the plan",
      devices.why_none);
}

int device_count() {
  return cuda::count_devices().count;
}

void train_on_cuda(const Options& options, const RunSettings& settings, TrainOutput output) {
  if (settings.rank_slice) {
    share_cores(1);
    const auto world = make_loopback_world(settings.world_size(), *settings.rank_slice);
    return run_rank(*world, 0, options, settings, output);
  }
  if (const int devices = device_count(); devices < settings.world_size()) {
    throw cuda::NoDevice("train as threads of one process",
                         fmt::format("the layout has {} ranks, each of which needs a device, and "
                                     "here are {}",
                                     settings.world_size(), devices),
                         "", "Started by srun, one process a device, they meet.");
  }
  run_thread_ranks(
      settings.world_size(),
      [&](World& world) {
        share_cores(settings.world_size());
        run_rank(world, world.rank(), options, settings, output);
      },
      kRankPatience);
}

void train_rank_on_cuda(World& world, int local_rank, int ranks_of_this_machine,
                        const Options& options, const RunSettings& settings, TrainOutput output) {
  share_cores(ranks_of_this_machine);
  run_own_rank(world, [&] { run_rank(world, local_rank, options, settings, output); });
}

}  // namespace llmb::runner
