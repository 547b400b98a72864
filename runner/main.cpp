// llmb-step-runner: trains, or plans to.
#include <iostream>

#include "runner/options.h"

int main(int argc, char** argv) {
  using namespace llmb::runner;
  const ParsedOptions parsed =
      parse_options(std::vector<std::string>(argv + 1, argv + argc), process_environment());
  if (parsed.exit_code) {
    (*parsed.exit_code == kExitOk ? std::cout : std::cerr) << parsed.text;
    return *parsed.exit_code;
  }
  return kExitOk;
}
