#include "server/cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "parser/foundation/nearest_word.h"
#include "server/cli/commands.h"
#include "server/cli/documents_command.h"
#include "server/cli/exit_codes.h"
#include "server/cli/finished_output.h"
#include "server/cli/foreign_option.h"
#include "server/cli/version.h"
#include "server/ingest/abandoned_call.h"

namespace llmb::cli {
namespace {

// `help` and `help COMMAND` are --help and COMMAND --help.
std::vector<std::string> read_arguments(int argc, char** argv) {
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  if (!arguments.empty() && arguments.front() == "help") {
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  return arguments;
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names = {"help"};
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

// What is wrong with the first argument, where that is meant to be a command and is none.
std::string unknown_command(const CLI::App& app, const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front().starts_with('-')) return {};
  const std::vector<std::string> names = names_of_commands(app);
  const std::string& typed = arguments.front();
  if (std::find(names.begin(), names.end(), typed) != names.end()) return {};
  return fmt::format("there is no command '{}'{}", typed, parser::did_you_mean(typed, names));
}

struct SaidCommand {
  const CLI::App* command;  // the innermost that was said, or the program itself
  std::string words;        // "jobs log"; of the program none
};

SaidCommand said_command(const CLI::App& app) {
  SaidCommand said{&app, {}};
  for (auto commands = app.get_subcommands(); !commands.empty();
       commands = said.command->get_subcommands()) {
    said.command = commands.front();
    said.words += (said.words.empty() ? "" : " ") + said.command->get_name();
  }
  return said;
}

// The same for the first argument that looks like an option and that the command has not.
std::string unknown_option(const CLI::App& app, const SaidCommand& said) {
  std::vector<std::string> known;
  for (const CLI::Option* option : said.command->get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (const std::string& argument : app.remaining(true)) {
    if (!argument.starts_with('-')) continue;
    const std::string typed = argument.substr(0, argument.find('='));
    if (std::find(known.begin(), known.end(), typed) != known.end()) {
      return fmt::format("the option '{}' stands behind the command: llmb-report {} {}", typed,
                         said.words, typed);
    }
    const std::string instead = what_does_instead(typed, known);
    return fmt::format("there is no option '{}'{}", typed,
                       instead.empty() ? parser::did_you_mean(typed, known) : instead);
  }
  return {};
}

// What is empty is most often a variable of a shell that is not set. Taken for "not given" it would
// widen what a command does: `prune --cluster "$CLUSTER" --yes`.
void refuse_empty_values(CLI::App& app) {
  const CLI::Validator is_not_empty(
      [](const std::string& value) {
        return value.empty() ? "it is empty, as of a variable that is not set: give a value, or "
                               "leave it out"
                             : std::string();
      },
      "");
  for (CLI::Option* const option : app.get_options()) option->check(is_not_empty);
  for (CLI::App* const command : app.get_subcommands({})) refuse_empty_values(*command);
}

// The same for "--cluster=", of which the next word would be the value.
std::string empty_option(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    const bool is_one = argument.starts_with("--") && argument.find('=') == argument.size() - 1;
    if (is_one) {
      return fmt::format(
          "{} is empty, as of a variable that is not set: give a value, or leave it out", argument);
    }
  }
  return {};
}

// `command`: of which the help says more; empty: none yet.
int say(const std::string& problem, const std::string& command = {}) {
  std::cerr << fmt::format("llmb-report: {}\nllmb-report help{}{} lists what there is.\n", problem,
                           command.empty() ? "" : " ", command);
  return kBadArguments;
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app{"llmb-report reads the logs of LLM training benchmarks and says how fast they ran."};
  app.name("llmb-report");
  app.set_version_flag("--version", version_with_commit());
  app.require_subcommand(1);
  app.footer("llmb-report help COMMAND explains a command with examples.");

  int exit_code = 0;
  add_parse_command(app, exit_code);
  add_ingest_command(app, exit_code);
  add_backfill_command(app, exit_code);
  add_serve_command(app, exit_code);
  add_submit_command(app, exit_code);
  add_jobs_command(app, exit_code);
  add_token_command(app, exit_code);
  add_compare_command(app, exit_code);
  add_scaling_command(app, exit_code);
  add_history_command(app, exit_code);
  add_failures_command(app, exit_code);
  add_agreement_command(app, exit_code);
  add_audit_command(app, exit_code);
  add_doctor_command(app, exit_code);
  add_copy_db_command(app, exit_code);
  add_prune_command(app, exit_code);
  add_sample_command(app, exit_code);
  add_documents_commands(app, exit_code);
  refuse_empty_values(app);

  std::vector<std::string> arguments = read_arguments(argc, argv);
  if (const std::string problem = unknown_command(app, arguments); !problem.empty()) {
    return say(problem);
  }
  if (const std::string problem = empty_option(arguments); !problem.empty()) return say(problem);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    const bool is_asked_for = error.get_exit_code() == 0;  // --help, --version
    const SaidCommand said = said_command(app);
    // First: an option that is missing may be one that was mistyped.
    const std::string problem = is_asked_for ? "" : unknown_option(app, said);
    if (!problem.empty()) return say(problem, said.words);
    return app.exit(error) == 0 ? finish_output(0) : kBadArguments;
  } catch (const std::exception& error) {
    std::cerr << "llmb-report: " << error.what() << '\n';
    return kFailed;
  }
  exit_code = finish_output(exit_code);
  ingest::exit_past_abandoned_threads(exit_code);
  return exit_code;
}

}  // namespace llmb::cli
