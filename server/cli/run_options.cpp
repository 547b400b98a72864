#include "server/cli/run_options.h"

#include <CLI/CLI.hpp>

#include "parser/statistics/run_marks.h"
#include "parser/step_interruption.h"
#include "parser/window.h"

namespace llmb::cli {

CLI::Option* add_window_option(CLI::App& command, std::string& value) {
  const auto check = [](const std::string& text) {
    const auto window = parser::parse_asked_window(text);
    return window ? std::string() : window.error().message;
  };
  return command
      .add_option("--window", value, "Iterations that count, such as 11-44; last: the last step")
      ->check(check)
      ->type_name("A-B|last");
}

CLI::Option* add_without_option(CLI::App& command, std::string& value) {
  const auto check = [](const std::string& text) {
    const auto set = parser::parse_step_interruptions(text);
    return set ? std::string() : set.error().message;
  };
  return command
      .add_option("--without", value,
                  "Leave out steps of the window that one of these touches: " +
                      parser::step_interruption_names())
      ->check(check)
      ->type_name("KIND,KIND");
}

CLI::Option* add_include_option(CLI::App& command, std::string& value) {
  const auto check = [](const std::string& text) {
    const auto marks = parser::parse_run_marks(text);
    return marks ? std::string() : marks.error().message;
  };
  return command
      .add_option("--include", value,
                  "Runs to count that are left out: " + parser::run_mark_names())
      ->check(check)
      ->type_name("MARK,MARK");
}

}  // namespace llmb::cli
