// The step lines of NeMo 2 and Megatron, as their sources print them: markers and field names.
// The readers in this folder recognise these, and whoever prints such lines prints with them.
// Formats of the values (printf's words): NeMo prints whole floats as integers and all others with
// 4 significant digits; Megatron's formats stand beside each name.
#pragma once

#include <string_view>

namespace llmb::parser::step_line_grammar {

// NeMo 2: "Training epoch E, iteration I/T | name: value | name: value …", I from 0, T the last.
namespace nemo {
inline constexpr std::string_view kMarker = "Training epoch";
inline constexpr std::string_view kIteration = ", iteration ";
inline constexpr std::string_view kFieldSeparator = " | ";
inline constexpr std::string_view kValueSeparator = ": ";
inline constexpr int kSignificantDigits = 4;

inline constexpr std::string_view kLearningRate = "lr";
inline constexpr std::string_view kGlobalBatchSize = "global_batch_size";
inline constexpr std::string_view kGlobalStep = "global_step";
inline constexpr std::string_view kPeakMemoryUsage = "peak_memory_usage";      // bytes, before r2.4
inline constexpr std::string_view kMemoryAllocated = "memory_allocated";       // bytes, before r2.4
inline constexpr std::string_view kMaxMemoryReserved = "max_memory_reserved";  // bytes
inline constexpr std::string_view kMaxMemoryAllocated = "max_memory_allocated";
inline constexpr std::string_view kLoss = "reduced_train_loss";
inline constexpr std::string_view kStepTime = "train_step_timing in s";
inline constexpr std::string_view kConsumedSamples = "consumed_samples";
inline constexpr std::string_view kTflopsPerGpu = "TFLOPS_per_GPU";
inline constexpr std::string_view kGradNorm = "grad_norm";
}  // namespace nemo

// Megatron: " [date time] iteration I/ N | name: value | … |", I from 1, N the last.
namespace megatron {
inline constexpr std::string_view kMarker = "iteration";                                // %8d/%8d
inline constexpr std::string_view kConsumedSamples = "consumed samples";                // %12d
inline constexpr std::string_view kStepTimeMs = "elapsed time per iteration (ms)";      // %.1f
inline constexpr std::string_view kStepTimeS = "elapsed time per iteration (s)";        // DeepSpeed
inline constexpr std::string_view kDeepSpeedTflops = "TFLOPs";                          // %.2f
inline constexpr std::string_view kLearningRate = "learning rate";                      // %.6E
inline constexpr std::string_view kGlobalBatchSize = "global batch size";               // %5d
inline constexpr std::string_view kLoss = "lm loss";                                    // %.6E
inline constexpr std::string_view kForkLoss = "loss";                                   // %.6E
inline constexpr std::string_view kLossScale = "loss scale";                            // %.1f
inline constexpr std::string_view kGradNorm = "grad norm";                              // %.3f
inline constexpr std::string_view kParamsNorm = "params norm";                          // %.3f
inline constexpr std::string_view kSkippedIterations = "number of skipped iterations";  // %3d
inline constexpr std::string_view kNanIterations = "number of nan iterations";          // %3d

// "throughput" and, in forks, "compute" stand before it.
inline constexpr std::string_view kPerGpuTflops = "per GPU (TFLOP/s/GPU)";

// Megatron-Bridge adds, from rank 0: "Step Time : %.2fs GPU utilization: %.1fMODEL_TFLOP/s/GPU"
// ("TFLOP/s/GPU" before November 2025).
inline constexpr std::string_view kStepTimeMarker = "Step Time";
inline constexpr std::string_view kGpuUtilization = "GPU utilization:";
}  // namespace megatron

// llmb-step-runner says once what it runs: "llmb-step-runner configuration: key=value key=value …",
// with the keys of RunConfiguration.
namespace step_runner {
inline constexpr std::string_view kConfigurationMarker = "llmb-step-runner configuration: ";
}  // namespace step_runner

}  // namespace llmb::parser::step_line_grammar
