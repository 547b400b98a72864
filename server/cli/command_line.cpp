#include "server/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "server/cli/agreement_command.h"
#include "server/cli/audit_command.h"
#include "server/cli/compare_command.h"
#include "server/cli/doctor_command.h"
#include "server/cli/ingest_command.h"
#include "server/cli/jobs_command.h"
#include "server/cli/parse_command.h"
#include "server/cli/sample_command.h"
#include "server/cli/scaling_command.h"
#include "server/cli/serve_command.h"
#include "server/cli/submit_command.h"
#include "server/cli/token_command.h"

namespace llmb::cli {
namespace {

constexpr int kBadArguments = 2;

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app{"llmb-report reads the logs of LLM training benchmarks and says how fast they ran."};
  app.name("llmb-report");
  app.set_version_flag("--version", LLMB_VERSION);
  app.require_subcommand(1);
  app.footer("llmb-report COMMAND --help explains a command with examples.");

  int exit_code = 0;
  add_parse_command(app, exit_code);
  add_ingest_command(app, exit_code);
  add_serve_command(app, exit_code);
  add_submit_command(app, exit_code);
  add_jobs_command(app, exit_code);
  add_token_command(app, exit_code);
  add_compare_command(app, exit_code);
  add_scaling_command(app, exit_code);
  add_agreement_command(app, exit_code);
  add_audit_command(app, exit_code);
  add_doctor_command(app, exit_code);
  add_sample_command(app, exit_code);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadArguments;
  } catch (const std::exception& error) {
    std::cerr << "llmb-report: " << error.what() << '\n';
    return 1;
  }
  return exit_code;
}

}  // namespace llmb::cli
