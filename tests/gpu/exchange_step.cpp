// exchange_step: forward and backward pass of one batch of a small Llama 3.1, on a device, its
// double or the CPU, into a file that other programs compute again: shape, weights, tokens, loss,
// every gradient.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "runner/data/synthetic_tokens.h"
#include "runner/model/parameter_values.h"
#include "runner/operation/rotary_frequencies.h"
#include "tests/gpu/tensor_file.h"
#include "tests/runner/backend/backend_step.h"
#include "tests/runner/model/tiny_models.h"

namespace llmb::runner::testing {
namespace {

constexpr const char* kUsage =
    "Usage: exchange_step FILE (cpu|cuda) (fp32|bf16) [--tiny]\n"
    "Writes FILE, in the format of safetensors. --tiny: what the double computes in seconds.\n";
constexpr std::uint64_t kSeed = 5;  // step_of's

ModelSpec model(bool is_tiny) {
  ShapeOverrides shape;
  shape.layer_count = is_tiny ? 2 : 4;
  shape.hidden_size = is_tiny ? 16 : 1024;
  shape.attention_head_count = is_tiny ? 4 : 8;
  shape.query_group_count = 2;
  shape.head_size = is_tiny ? 4 : 128;
  shape.ffn_hidden_size = is_tiny ? 24 : 3584;
  shape.vocabulary_size = is_tiny ? 24 : 8192;
  shape.sequence_length = is_tiny ? 8 : 2048;
  ModelSpec spec = tiny_model("pretrain_llama3.1", "8b", shape);
  if (is_tiny) spec.initial_std = 0.2;  // so that attention is not nearly even
  return spec;
}

void describe(const ModelSpec& spec, const char* precision, TensorFile& file) {
  const ModelShape& shape = spec.shape;
  file.describe("precision", precision);
  file.describe("layer_count", std::to_string(shape.layer_count));
  file.describe("hidden_size", std::to_string(shape.hidden_size));
  file.describe("head_count", std::to_string(shape.attention_head_count));
  file.describe("group_count", std::to_string(shape.query_group_count));
  file.describe("head_size", std::to_string(shape.head_size));
  file.describe("norm_epsilon", fmt::format("{}", spec.norm_epsilon));
  const RotaryFrequencies frequencies = {
      shape.rotary_base, shape.rotary_scaling_factor, shape.rotary_low_frequency_factor,
      shape.rotary_high_frequency_factor, static_cast<double>(shape.rotary_original_length)};
  std::vector<double> of_pairs;
  for (std::int64_t pair = 0; pair < shape.head_size / 2; ++pair) {
    of_pairs.push_back(frequencies.of_pair(pair, shape.head_size / 2));
  }
  file.add("rotary_frequencies", {std::ssize(of_pairs)}, of_pairs);
}

void add_parameters(const ModelSpec& spec, const BackendStep& step, TensorFile& file) {
  for (const Parameter& parameter : model_parameters(spec)) {
    const std::vector<std::int64_t> origin(parameter.shape.size());
    std::vector<float> weights(static_cast<std::size_t>(parameter.element_count()));
    draw_values<float>(parameter, parameter.shape, origin, spec, kSeed, 0, weights);
    const std::vector<double>& sums = step.gradients.at(parameter.name);
    const std::vector<float> gradients(sums.begin(), sums.end());
    file.add("weight/" + parameter.name, parameter.shape, weights);
    file.add("gradient/" + parameter.name, parameter.shape, gradients);
  }
}

BackendStep compute(const ModelSpec& spec, const BatchSizes& batch, bool on_cuda, bool is_bf16) {
  const Precision precision = is_bf16 ? Precision::bf16 : Precision::fp32;
  if (!on_cuda) return step_of<cpu::Backend<float>>(spec, {}, batch, precision);
  return is_bf16 ? step_of<cuda::Backend<kernels::Bf16>>(spec, {}, batch, precision)
                 : step_of<cuda::Backend<float>>(spec, {}, batch, precision);
}

void exchange(const std::string& path, bool on_cuda, bool is_bf16, bool is_tiny) {
  const ModelSpec spec = model(is_tiny);
  const BatchSizes batch{2, 2};
  const BackendStep step = compute(spec, batch, on_cuda, is_bf16);
  TensorFile file;
  describe(spec, is_bf16 ? "bf16" : "fp32", file);
  const TokenBatch tokens = SyntheticTokens(kSeed, spec.shape.vocabulary_size)
                                .batch(0, 0, batch.global_batch_size, spec.shape.sequence_length);
  file.add("tokens", {tokens.sequences, tokens.length + 1}, tokens.tokens);
  file.add("loss", {1}, std::span<const double>(step.losses));
  add_parameters(spec, step, file);
  file.write(path);
  fmt::print("loss {:.6f}, gradient norm {:.6f}\n", step.losses.front(), step.gradient_norm);
}

}  // namespace
}  // namespace llmb::runner::testing

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const bool is_tiny = words.size() == 4 && words[3] == "--tiny";
  const bool is_understood = (words.size() == 3 || is_tiny) &&
                             (words[1] == "cpu" || words[1] == "cuda") &&
                             (words[2] == "fp32" || words[2] == "bf16");
  if (!is_understood) {
    fmt::print(stderr, "{}", llmb::runner::testing::kUsage);
    return 2;
  }
  try {
    const bool on_cuda = words[1] == "cuda";
    if (on_cuda && llmb::runner::cuda::count_devices().count == 0) {
      fmt::print("no device: {}\n", llmb::runner::cuda::count_devices().why_none);
      return 77;
    }
    llmb::runner::testing::exchange(words[0], on_cuda, words[2] == "bf16", is_tiny);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "exchange_step: {}\n", error.what());
    return 1;
  }
}
