#include "server/cli/commands.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include "server/sample/sample_tree.h"

namespace llmb::cli {
namespace {

struct SampleArguments {
  std::string folder;
  bool is_live = false;
  double step_s = 1.0;
};

constexpr const char* kSampleFooter = R"(Examples:
  llmb-report sample /tmp/tree                 write the tree and end
  llmb-report sample --live /tmp/tree          then append a step every second, until Ctrl-C
  llmb-report serve /tmp/tree                  look at it

The tree is a small $LLMB_WORKLOAD with every dialect, both layouts, repeats, restarts, requeues
and failures. Its figures imitate published ones and measure nothing. The same bytes every time,
but for the growing run, whose folder carries the time of its launch.)";

int run_sample(const SampleArguments& arguments) {
  try {
    if (!arguments.is_live) {
      sample::write_sample_tree(arguments.folder);
      std::cout << "Wrote the sample tree to " << arguments.folder << '\n';
      return 0;
    }
    std::cout << "Growing one run below " << arguments.folder << "; Ctrl-C ends it\n" << std::flush;
    const auto step = std::chrono::milliseconds(static_cast<long>(arguments.step_s * 1000));
    sample::grow_sample_tree(arguments.folder, step, [] { return false; });
    return 0;
  } catch (const std::runtime_error& error) {
    std::cerr << "llmb-report: " << error.what() << '\n';
    return 1;
  }
}

}  // namespace

void add_sample_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("sample", "Write a made-up tree of training logs to try llmb-report on.");
  command->footer(kSampleFooter);
  const auto arguments = std::make_shared<SampleArguments>();
  command->add_option("folder", arguments->folder, "Where to write it; made when missing")
      ->required()
      ->type_name("DIR");
  command->add_flag("--live", arguments->is_live, "Then let one run grow, step by step");
  command->add_option("--step-seconds", arguments->step_s, "Time between two steps of that run")
      ->check(CLI::Range(0.01, 3600.0))
      ->capture_default_str();
  command->callback([arguments, &exit_code] { exit_code = run_sample(*arguments); });
}

}  // namespace llmb::cli
