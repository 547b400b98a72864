// `llmb-report completion SHELL` and `llmb-report manual`: what shells and man(1) want to know of
// the command line, made of the commands and options themselves.
#pragma once

namespace CLI {
class App;
}

namespace llmb::cli {

// After every other command: they describe those that `app` has by then.
void add_documents_commands(CLI::App& app, int& exit_code);

}  // namespace llmb::cli
