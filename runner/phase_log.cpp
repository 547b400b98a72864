#include "runner/phase_log.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace llmb::runner {
namespace {

// JSON has no NaN.
nlohmann::json number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

// Of rank 0's device, what it tells; and the energy of a token, of all of them.
void add_device(const RunSettings& settings, const StepRecord& step, nlohmann::ordered_json& line) {
  if (step.energy_j_per_gpu) {
    const double tokens = static_cast<double>(settings.batch.global_batch_size) *
                          static_cast<double>(settings.spec.shape.sequence_length);
    line["energy_j_per_gpu"] = *step.energy_j_per_gpu;
    line["energy_j_per_token"] = *step.energy_j_per_gpu * settings.world_size() / tokens;
  }
  nlohmann::ordered_json device = nlohmann::ordered_json::object();
  const auto add = [&device](const char* name, const std::optional<double>& value) {
    if (value) device[name] = *value;
  };
  add("energy_j", step.device.energy_j);
  add("power_w", step.device.power_w);
  add("sm_clock_hz", step.device.sm_clock_hz);
  add("memory_clock_hz", step.device.memory_clock_hz);
  add("temperature_c_max", step.device.temperature_c);
  if (device.empty()) return;
  device["throttle_reasons"] = step.device.throttle_reasons;
  line["device"] = std::move(device);
}

}  // namespace

CommunicationByGroup communication_of(const RankGroups& groups) {
  CommunicationByGroup totals;
  for (const Communicator* communicator : groups.all()) {
    totals[communicator->name()] = communicator->totals();
  }
  return totals;
}

CommunicationByGroup difference(const CommunicationByGroup& later,
                                const CommunicationByGroup& earlier) {
  CommunicationByGroup between = later;
  for (auto& [name, totals] : between) {
    const auto before = earlier.find(name);
    if (before == earlier.end()) continue;
    totals.calls -= before->second.calls;
    totals.bytes_sent -= before->second.bytes_sent;
    totals.time_s -= before->second.time_s;
  }
  return between;
}

std::string phase_line(const RunSettings& settings, const StepRecord& step,
                       const PhaseTimes& phases, const CommunicationByGroup& communication) {
  nlohmann::ordered_json line;
  line["step"] = step.step;
  line["backend"] = settings.backend == Backend::cpu ? "cpu" : "cuda";
  line["step_time_s"] = step.step_time_s;
  line["tflops_per_gpu"] = number(step.tflops_per_gpu);
  line["loss"] = number(step.loss);
  line["grad_norm"] = number(step.grad_norm);
  const bool has_times = settings.backend == Backend::cpu;
  if (has_times) {
    line["phases"] = {{"data_s", phases.data_s},           {"forward_s", phases.forward_s},
                      {"backward_s", phases.backward_s},   {"pipeline_s", phases.pipeline_s},
                      {"optimizer_s", phases.optimizer_s}, {"total_s", phases.total_s}};
  }
  nlohmann::ordered_json groups = nlohmann::ordered_json::object();
  for (const auto& [name, totals] : communication) {
    if (totals.calls == 0) continue;
    groups[name] = {{"calls", totals.calls}, {"bytes_sent", totals.bytes_sent}};
    if (has_times) groups[name]["time_s"] = totals.time_s;
  }
  line["communication"] = std::move(groups);
  add_device(settings, step, line);
  return line.dump() + "\n";
}

}  // namespace llmb::runner
