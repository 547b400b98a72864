// `llmb-report doctor`: what is wrong with a database and the trees that it follows.
#pragma once

#include <CLI/App.hpp>

namespace llmb::cli {

void add_doctor_command(CLI::App& app, int& exit_code);

}  // namespace llmb::cli
