// device_ceilings: what `llmb-step-runner ceilings` prints, for one layer of Llama 3.1 8B at 8192
// positions, on a device or, with --tiny, of a model that the double computes in a second.
#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "runner/cuda/device.h"
#include "runner/cuda_ceilings.h"
#include "runner/plan/options.h"
#include "runner/plan/run_settings.h"

namespace {

using namespace llmb::runner;  // NOLINT(google-build-using-namespace): a program of one file

RunSettings settings_of(bool is_tiny) {
  std::vector<std::string> words = {"-w",
                                    "pretrain_llama3.1",
                                    "-s",
                                    "8b",
                                    "--backend",
                                    "cuda",
                                    "--dtype",
                                    "bf16",
                                    "--tp",
                                    "1",
                                    "--pp",
                                    "1",
                                    "--vp",
                                    "1",
                                    "--cp",
                                    "1",
                                    "--dp",
                                    "1",
                                    "--micro-batch-size",
                                    "1",
                                    "--global-batch-size",
                                    "1"};
  if (is_tiny) {
    words.insert(words.end(), {"--hidden-size", "32", "--num-attention-heads", "2",
                               "--num-query-groups", "1", "--head-size", "16", "--ffn-hidden-size",
                               "112", "--vocab-size", "64", "--seq-length", "64"});
  }
  const auto settings =
      make_run_settings(parse_options(words, {}).options, llmb::parser::embedded_catalog());
  if (!settings) throw std::invalid_argument(settings.error().message);
  return *settings;
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_tiny = argc > 1 && std::string(argv[1]) == "--tiny";
  try {
    const cuda::DeviceCount devices = cuda::count_devices();
    if (devices.count == 0) {
      fmt::print(stderr, "device_ceilings: no device: {}\n", devices.why_none);
      return 77;
    }
    print_cuda_ceilings(settings_of(is_tiny), is_tiny ? 0.01 : 2.0, std::cout);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "device_ceilings: {}\n", error.what());
    return 1;
  }
}
