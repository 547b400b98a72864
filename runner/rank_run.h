// RankRun: one rank's whole run on a backend: steps, log lines, checkpoints, profile window.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runner/checkpoint/checkpoint.h"
#include "runner/model/transformer_stage.h"
#include "runner/nccl_trace_log.h"
#include "runner/op_table_text.h"
#include "runner/operation/device_use.h"
#include "runner/phase_log.h"
#include "runner/plan/options.h"
#include "runner/plan/plan_text.h"
#include "runner/plan/run_settings.h"
#include "runner/plan/step_floor.h"
#include "runner/process_memory.h"
#include "runner/step_log.h"
#include "runner/step_timer.h"
#include "runner/train_output.h"
#include "runner/trainer/rank_trainer.h"

namespace llmb::runner {

inline constexpr std::int64_t kTracedSteps = 5;
inline constexpr double kTera = 1e12;

// What the log's memory columns say of a rank: of the process, or of the rank's device.
template <typename Ops>
ProcessMemory memory_of(const Ops& ops) {
  if constexpr (requires { ops.allocated_bytes(); }) {
    return {ops.allocated_bytes(), ops.allocated_bytes()};
  } else {
    return process_memory();
  }
}

// The device that NCCL would name in a trace; on the CPU each rank stands for one.
template <typename Ops>
int traced_device(const Ops& ops, int rank) {
  if constexpr (requires { ops.device_index(); }) {
    return ops.device_index();
  } else {
    return rank;
  }
}

inline TrainerSettings trainer_settings(const Options& options, const RunSettings& settings) {
  TrainerSettings trainer;
  trainer.batch = settings.batch;
  trainer.seed = options.seed;
  trainer.optimizer.adamw.learning_rate = options.learning_rate;
  trainer.optimizer.has_narrow_weights = settings.precision != Precision::fp32;
  if (settings.fully_sharded) trainer.sharding = ParameterSharding::full;
  return trainer;
}

// What this rank's device did since the last call, asked at each step's end; null where nobody
// tells.
using DeviceUseSource = std::function<DeviceUse()>;

// "rank-slice: 3 of 512, no communication"; empty for a whole run.
inline std::string slice_label(const RunSettings& settings) {
  if (!settings.rank_slice) return "";
  return fmt::format("rank-slice: {} of {}, no communication", *settings.rank_slice,
                     settings.world_size());
}

// One rank's run; used by the rank's thread.
template <typename Backend>
class RankRun {
 public:
  // `ops`, `world` and the rest outlive it; the world's groups are of the backend's memory.
  RankRun(typename Backend::Ops& ops, World& world, const Options& options,
          const RunSettings& settings, const Layout& layout, TrainOutput output,
          OpCeilings ceilings = {}, DeviceUseSource device_use = nullptr)
      : ops_(ops),
        options_(options),
        settings_(settings),
        output_(output),
        ceilings_(std::move(ceilings)),
        device_use_(std::move(device_use)),
        trainer_(ops, world, settings.spec, layout, trainer_settings(options, settings),
                 [&](int chunk, ParameterStore<Backend>& store, RankGroups& groups) {
                   return std::make_unique<TransformerStage<Backend>>(
                       ops_, settings.spec, layout, world.rank(), chunk,
                       settings.batch.micro_batch_size, store, groups,
                       StageOptions{settings.precision, settings.recompute_layers,
                                    settings.keeps_fp8_weights, settings.head_chunk_rows,
                                    settings.expert_counts});
                 }) {
    head_.format = settings.log_format;
    head_.step_count = settings.step_count;
    head_.global_batch_size = settings.batch.global_batch_size;
    head_.label = slice_label(settings);
  }

  void train() {
    load();
    trainer_.groups().host().barrier("train.begin");
    if (device_use_) device_use_();  // what came before is no step's
    timer_.begin_step();
    for (std::int64_t step = head_.first_step; step < head_.end_step(); ++step) {
      trace_calls(options_.enable_nccl_trace && step - head_.first_step < kTracedSteps);
      choose_graphs(step);
      if (is_profiled(step) && profile_first_step_ < 0) begin_profile(step);
      train_step(step);
      if (is_profiled(step) && !is_profiled(step + 1)) end_profile(step + 1);
    }
    trace_calls(false);
    if (is_first_rank()) {
      const int stage = trainer_.layout().place_of(trainer_.rank()).pp;
      output_.log.write(memory_use_text(settings_, trainer_.memory_use(), stage));
    }
    save();
    if (is_first_rank()) output_.log.write(finish_line(head_, local_date_time()));
  }

  const RankTrainer<Backend>& trainer() const { return trainer_; }

 private:
  // Who writes the log; of a slice, the only rank there is.
  bool is_first_rank() const { return settings_.rank_slice || trainer_.rank() == 0; }

  // The layout may be another than the one that saved.
  void load() {
    if (options_.load_checkpoint_path.empty()) return;
    const double started_at_s = seconds_since_epoch();
    StepTimer clock;
    head_.first_step = load_checkpoint(options_.load_checkpoint_path, trainer_);
    trainer_.groups().host().barrier("train.loaded");
    if (!is_first_rank()) return;
    output_.log.write(checkpoint_load_line(0, started_at_s, clock.end_step(), local_date_time()));
  }

  void save() {
    if (!options_.enable_checkpoint) return;
    const double started_at_s = seconds_since_epoch();
    StepTimer clock;
    save_checkpoint(options_.checkpoint_path, trainer_, head_.end_step(),
                    {configuration_text(settings_), model_flags(settings_), {}});
    trainer_.groups().host().barrier("train.saved");
    if (!is_first_rank()) return;
    output_.log.write(checkpoint_save_line(0, head_.end_step(), started_at_s, clock.end_step(),
                                           local_date_time()));
  }

  // Of some rank: of the first.
  bool is_profile_step(std::int64_t step) const {
    const std::int64_t done = step - head_.first_step;
    return options_.enable_profile && done >= settings_.profile_start_step &&
           done < settings_.profile_stop_step;
  }
  bool is_profiled(std::int64_t step) const { return is_first_rank() && is_profile_step(step); }

  // All ranks alike: the first step makes what passes need, and in a graph nobody sees operations
  // or calls.
  void choose_graphs(std::int64_t step) {
    if constexpr (requires { ops_.graph_use(); }) {
      using Mode = decltype(ops_.graph_use().mode);
      const bool are_there = step > head_.first_step && !is_traced_ && !is_profile_step(step);
      ops_.run_passes(!settings_.wants_graphs ? Mode::as_they_are
                      : are_there             ? Mode::as_graphs
                                              : Mode::at_fixed_places);
    }
  }

  // Once after the step that captures, and once where a later one has to do so again; and on each
  // rank that was refused, that there are none.
  void tell_of_graphs(std::int64_t step) {
    if constexpr (requires { ops_.graph_use(); }) {
      const auto& use = ops_.graph_use();
      if (!use.why_none.empty()) {
        if (is_refusal_told_) return;
        is_refusal_told_ = true;
        if (!use.is_refused_here && !is_first_rank()) return;
        output_.log.write(fmt::format(
            "llmb-step-runner: rank {} goes on without CUDA graphs from step {} on: {}\n",
            trainer_.rank(), step, use.why_none));
        return;
      }
      if (!is_first_rank() || use.captured == graphs_told_ || graph_lines_ == 2) return;
      output_.log.write(fmt::format(
          "llmb-step-runner: step {} captured {} of the passes as CUDA graphs, with {:.0f} "
          "operations each{}\n",
          step, use.captured - graphs_told_,
          static_cast<double>(use.captured_nodes) / static_cast<double>(use.captured),
          graph_lines_ == 0 ? graph_memory_text(settings_, use.device_bytes,
                                                trainer_.layout().place_of(trainer_.rank()).pp)
                            : ": what they work on has come to lie elsewhere; later ones are not "
                              "told"));
      graphs_told_ = use.captured;
      ++graph_lines_;
    }
  }

  // On each rank whose experts get more rows than planned; again where it is a tenth more.
  void tell_of_expert_rows(std::int64_t step) {
    const std::int64_t rows = trainer_.memory_use().expert_rows_max;
    if (rows <= planned_expert_rows(settings_) || rows <= expert_rows_told_ / 10 * 11) return;
    expert_rows_told_ = rows;
    output_.log.write(expert_rows_text(settings_, rows, trainer_.rank(), step));
  }

  void begin_profile(std::int64_t step) {
    profile_first_step_ = step;
    profiled_time_s_ = 0;
    output_.log.write(profile_begin_text(step));
    ops_.begin_profile();
  }

  void end_profile(std::int64_t stop_step) {
    const auto operations = ops_.end_profile();
    if (operations.empty()) return;
    output_.log.write(
        op_table_text(operations, profile_first_step_, stop_step, profiled_time_s_, ceilings_));
  }

  void train_step(std::int64_t step) {
    const CommunicationByGroup before = communication_of(trainer_.groups());
    const StepResult result = trainer_.step(step, options_.learning_rate);
    ops_.finish();
    StepRecord record;
    end_step(record);
    profiled_time_s_ += record.step_time_s;
    if (is_first_rank()) log_step(result, record, before);
    tell_of_graphs(step);
    tell_of_expert_rows(step);
    if (!result.is_updated || std::isnan(result.loss)) {
      throw NotANumber(fmt::format(
          "step {}: loss {}, gradient norm {}; a lower --learning-rate or another --seed may help",
          step, result.loss, result.gradient_norm));
    }
  }

  // All ranks have come; where devices tell their energy, these meet in the place of a barrier.
  void end_step(StepRecord& record) {
    Communicator& host = trainer_.groups().host();
    if (device_use_) {
      record.device = device_use_();
      std::vector<double> energy = {record.device.energy_j.value_or(0),
                                    record.device.energy_j ? 1.0 : 0.0};
      host.all_reduce(energy, ReduceOp::sum, "train.step_end");
      if (energy[1] > 0) record.energy_j_per_gpu = energy[0] / energy[1];
    } else {
      host.barrier("train.step_end");
    }
    record.step_time_s = timer_.end_step();
  }

  void log_step(const StepResult& result, StepRecord record, const CommunicationByGroup& before) {
    record.step = result.step;
    record.tflops_per_gpu =
        model_flops_per_step(settings_) / record.step_time_s / settings_.world_size() / kTera;
    record.learning_rate = options_.learning_rate;
    record.loss = result.loss;
    if (settings_.spec.is_moe()) record.auxiliary_loss = result.auxiliary_loss;
    record.grad_norm = result.gradient_norm;
    const ProcessMemory memory = memory_of(ops_);
    // The kernel's figure is not always the newest; a maximum never falls.
    memory_bytes_max_ = std::max(memory_bytes_max_, memory.resident_bytes_max);
    record.memory_bytes_max = memory_bytes_max_;
    record.memory_bytes_allocated = memory.resident_bytes;
    output_.log.write(step_lines(head_, record, local_date_time()));
    if (output_.phases == nullptr) return;
    const auto communication = difference(communication_of(trainer_.groups()), before);
    *output_.phases << phase_line(settings_, record, result.phases, communication) << std::flush;
  }

  void trace_calls(bool is_wanted) {
    if (is_wanted == is_traced_) return;
    is_traced_ = is_wanted;
    Communicator::Observer observer;
    if (is_wanted) {
      observer = [this, process = this_trace_process(traced_device(ops_, trainer_.rank()))](
                     const Communicator& communicator, const CallRecord& call) {
        const std::string line = nccl_trace_line(process, communicator, call);
        if (!line.empty()) output_.log.write(line);
      };
    }
    for (Communicator* communicator : trainer_.groups().all()) {
      communicator->set_observer(observer);
    }
  }

  typename Backend::Ops& ops_;
  const Options& options_;
  const RunSettings& settings_;
  TrainOutput output_;
  OpCeilings ceilings_;  // what a profile's operations are held against
  DeviceUseSource device_use_;
  StepLogHead head_;
  RankTrainer<Backend> trainer_;
  StepTimer timer_;
  bool is_traced_ = false;
  std::int64_t graphs_told_ = 0;
  int graph_lines_ = 0;
  bool is_refusal_told_ = false;
  std::int64_t expert_rows_told_ = 0;
  std::int64_t profile_first_step_ = -1;
  double profiled_time_s_ = 0;
  std::int64_t memory_bytes_max_ = 0;
};

}  // namespace llmb::runner
