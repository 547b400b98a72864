// llmb-step-runner: trains, or plans to.
#include <iostream>

#include "runner/dry_run.h"
#include "runner/options.h"
#include "runner/run_settings.h"

namespace {

using namespace llmb::runner;

int refuse(const std::string& message) {
  std::cerr << "llmb-step-runner: " << message << "\n";
  return kExitUsage;
}

int run(const Options& options) {
  const llmb::parser::Catalog& catalog = llmb::parser::embedded_catalog();
  const auto settings = make_run_settings(options, catalog);
  if (!settings) return refuse(settings.error().message);
  if (options.dry_run) {
    const auto planned = dry_run(*settings, catalog);
    if (!planned) return refuse(planned.error().message);
    std::cout << planned->text;
    return planned->exit_code;
  }
  return refuse("this build trains on no GPU; --dry-run prints the plan");
}

}  // namespace

int main(int argc, char** argv) {
  const ParsedOptions parsed =
      parse_options(std::vector<std::string>(argv + 1, argv + argc), process_environment());
  if (parsed.exit_code) {
    (*parsed.exit_code == kExitOk ? std::cout : std::cerr) << parsed.text;
    return *parsed.exit_code;
  }
  return run(parsed.options);
}
