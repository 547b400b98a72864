// llmb-step-runner: trains, or plans to.
#include <algorithm>
#include <cerrno>
#include <fstream>
#include <functional>
#include <iostream>
#include <optional>
#include <system_error>

#if defined(LLMB_STATIC_PROGRAM)
#include <nss.h>
#endif

#include "runner/ceilings_command.h"
#include "runner/checkpoint/durable_file.h"
#include "runner/checkpoint/manifest.h"
#include "runner/parallel/bootstrap.h"
#include "runner/parallel/socket_communicator.h"
#include "runner/parallel/thread_communicator.h"
#include "runner/plan/dry_run.h"
#include "runner/plan/memory_choice.h"
#include "runner/plan/options.h"
#include "runner/plan/plan_text.h"
#include "runner/plan/run_settings.h"
#include "runner/train_loop.h"
#if defined(LLMB_HAVE_CUDA_BACKEND)
#include "runner/cuda/device_error.h"
#include "runner/cuda_ceilings.h"
#include "runner/cuda_collective_ceilings.h"
#include "runner/cuda_train_loop.h"
#endif

namespace {

using namespace llmb::runner;
using llmb::parser::Catalog;

int refuse(const std::string& message) {
  std::cerr << kRefused << message << "\n";
  return kExitUsage;
}

int fail(int exit_code, const std::string& message) {
  std::cerr << "llmb-step-runner: " << message << "\n";
  return exit_code;
}

constexpr const char* kNotWritten = "the output could not be written: what stands there is not all";

int plan(const RunSettings& settings, const Catalog& catalog) {
  const auto planned = dry_run(settings, catalog);
  if (!planned) return refuse(planned.error().message);
  std::cout << planned->text;
  if (!std::cout.flush()) return fail(kExitFailed, kNotWritten);
  return planned->refusal.empty() ? planned->exit_code : refuse(planned->refusal);
}

void train(const Options& options, const RunSettings& settings, const ProcessPlace& place,
           TrainOutput output) {
#if defined(LLMB_HAVE_CUDA_BACKEND)
  if (settings.backend == Backend::cuda) {
    if (place.size == 1) return train_on_cuda(options, settings, output);
    const auto world = make_socket_world(place);
    return train_rank_on_cuda(*world, place.local_rank, place.local_size, options, settings,
                              output);
  }
#endif
  if (place.size == 1) return train_on_cpu(options, settings, output);
  const auto world = make_socket_world(place);
  train_rank_on_cpu(*world, place.local_size, options, settings, output);
}

// The exit code of `work`, whose failure is said.
int outcome_of(const RunSettings& settings, const std::function<void()>& work) {
  try {
    work();
  } catch (const NotANumber& error) {
    return fail(kExitNan, error.what());
  } catch (const DoesNotFit& error) {
    std::cerr << memory_table(settings, make_memory_plan(settings));
    return fail(kExitDoesNotFit, error.what());
  } catch (const CommunicationError& error) {
    return fail(kExitCommunication, error.what());
#if defined(LLMB_HAVE_CUDA_BACKEND)
  } catch (const cuda::NoDevice& error) {
    return fail(kExitUsage, error.what());
#endif
  } catch (const std::exception& error) {
    return fail(kExitFailed, error.what());
  }
  return kExitOk;
}

int train_and_tell(const Options& options, const RunSettings& settings, const ProcessPlace& place) {
  std::ofstream phases;
  if (!options.phases_path.empty() && place.rank == 0) {
    phases.open(options.phases_path, std::ios::trunc);
    if (!phases) {
      const std::string reason = std::generic_category().message(errno);
      return fail(kExitUsage,
                  "cannot write --phases file '" + options.phases_path + "': " + reason);
    }
  }
  LogSink log(std::cout);
  return outcome_of(settings, [&] {
    train(options, settings, place, {log, phases.is_open() ? &phases : nullptr});
  });
}

// Who names no scale and no layout asks for the whole model on one device.
Options for_ceilings(Options options) {
  const std::optional<int>* const sizes[] = {
      &options.scale, &options.virtual_ranks, &options.tp, &options.pp, &options.cp, &options.dp};
  if (std::any_of(std::begin(sizes), std::end(sizes),
                  [](auto* size) { return size->has_value(); })) {
    return options;
  }
  options.tp = options.pp = options.vp = options.cp = options.dp = 1;
  if (!options.ep) options.ep = 1;
  if (!options.etp) options.etp = 1;
  if (!options.micro_batch_size) options.micro_batch_size = 1;
  if (!options.global_batch_size) options.global_batch_size = options.micro_batch_size;
  return options;
}

#if defined(LLMB_HAVE_CUDA_BACKEND)
// Of several ranks: the first one's device alone, then what goes between all of theirs.
void measure_cuda_ceilings(const Options& options, const RunSettings& settings,
                           const ProcessPlace& place) {
  const double seconds = options.ceiling_seconds;
  const int ranks = settings.world_size();
  if (place.size > 1) {
    const auto world = make_socket_world(place);
    run_own_rank(*world, [&] {
      if (place.rank == 0) print_cuda_ceilings(settings, seconds, std::cout);
      print_collective_ceilings(*world, place.local_rank, settings, seconds, std::cout);
    });
    return;
  }
  print_cuda_ceilings(settings, seconds, std::cout);
  if (ranks == 1) return;
  if (const int devices = device_count(); devices < ranks) {
    std::cout << "collectives are not measured: the layout has " << ranks
              << " ranks, each of which needs a device, and here are " << devices
              << "; started by srun, one process a device, they meet\n";
    return;
  }
  run_thread_ranks(
      ranks,
      [&](World& world) {
        print_collective_ceilings(world, world.rank(), settings, seconds, std::cout);
      },
      kRankPatience);
}
#endif

void measure_ceilings(const Options& options, const RunSettings& settings,
                      [[maybe_unused]] const ProcessPlace& place) {
#if defined(LLMB_HAVE_CUDA_BACKEND)
  if (settings.backend == Backend::cuda) return measure_cuda_ceilings(options, settings, place);
#endif
  print_cpu_ceilings(settings, options.ceiling_seconds, std::cout);
}

// The first that this process asks CUDA for.
std::optional<std::string> lack_of_devices([[maybe_unused]] const RunSettings& settings) {
#if defined(LLMB_HAVE_CUDA_BACKEND)
  if (settings.backend != Backend::cuda) return {};
  choose_module_loading(settings);
  return no_device();
#endif
  return {};
}

bool is_built(Backend backend) {
  const std::vector<Backend>& built = built_backends();
  return std::find(built.begin(), built.end(), backend) != built.end();
}

int run(const Options& options, const ProcessPlace& place) {
  if (options.backend && !options.dry_run && !is_built(*options.backend)) {
    // The first words are those of a failure class that llmb-report knows.
    return fail(
        kExitUsage,
        "No CUDA GPUs are available to this program: it was built without the CUDA backend. "
        "--backend cpu trains a proxy on this machine's CPUs, and --dry-run prints the plan");
  }
  const Catalog& catalog = llmb::parser::embedded_catalog();
  auto settings =
      make_run_settings(options.measures_ceilings ? for_ceilings(options) : options, catalog);
  if (!settings) return refuse(settings.error().message);
  if (options.dry_run) return place.rank == 0 ? plan(*settings, catalog) : kExitOk;
  const std::optional<std::string> lack = lack_of_devices(*settings);
  if (options.measures_ceilings) {
    if (lack) return fail(kExitUsage, *lack);
    return outcome_of(*settings, [&] { measure_ceilings(options, *settings, place); });
  }
  const auto capacity = capacity_of(*settings, catalog);
  if (!capacity) return refuse(capacity.error().message);
  choose_by_memory(*settings, capacity->bytes);
  const MemoryPlan memory = make_memory_plan(*settings);
  if (!fits(*settings, memory, *capacity)) {
    std::cerr << memory_table(*settings, memory);
    return fail(kExitDoesNotFit,
                does_not_fit_text(*settings, memory, capacity->bytes, capacity->name));
  }
  if (lack) return fail(kExitUsage, *lack);
  return train_and_tell(options, *settings, place);
}

// nemotron4-25.04: "The scripts will restore configuration from the checkpoint".
ParsedOptions options_of(const std::vector<std::string>& arguments) {
  ParsedOptions parsed = parse_options(arguments, process_environment());
  const std::string& path = parsed.options.load_checkpoint_path;
  if (parsed.exit_code || path.empty()) return parsed;
  try {
    return parse_options(arguments, process_environment(), checkpoint_flags(path));
  } catch (const CheckpointError& error) {
    // A plan needs none.
    if (parsed.options.dry_run) return parsed;
    parsed.exit_code = kExitFailed;
    parsed.text = std::string("llmb-step-runner: ") + error.what() + "\n";
  }
  return parsed;
}

}  // namespace

int main(int argc, char** argv) {
#if defined(LLMB_STATIC_PROGRAM)
  // These two are in glibc itself. For what else a machine's nsswitch.conf names, a static program
  // would load that machine's libraries, which belong to another glibc.
  __nss_configure_lookup("hosts", "files dns");
#endif
#if defined(LLMB_HAVE_CUDA_BACKEND)
  add_built_backend(Backend::cuda);
#endif
  ParsedOptions parsed = options_of(std::vector<std::string>(argv + 1, argv + argc));
  if (parsed.exit_code) {
    (*parsed.exit_code == kExitOk ? std::cout : std::cerr) << parsed.text;
    if (!std::cout.flush()) return fail(kExitFailed, kNotWritten);
    return *parsed.exit_code;
  }
  const auto place = place_from_environment(launcher_environment());
  if (!place) return refuse(place.error().message);
  const ProcessPlace here = place->value_or(ProcessPlace{});
  parsed.options.launched_ranks = here.size;
  return run(parsed.options, here);
}
