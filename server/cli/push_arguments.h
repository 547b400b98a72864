// The options of `ingest` that say where what is read is pushed to, and its pushing at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "parser/result.h"
#include "server/cli/stop_signals.h"
#include "server/push/push_agent.h"

namespace CLI {
class App;
}

namespace llmb::cli {

struct PushArguments {
  std::string url;
  std::string token_file;
  std::string ca_file;
  std::string cluster;
  bool sends_text = false;
  std::int64_t patience_s = 60;  // for a server to take something, with --once
};

void add_push_options(CLI::App& command, PushArguments& arguments);

// Nothing where nothing is to be pushed. Error: what is missing or wrong.
parser::Result<std::optional<push::PushOptions>> push_options(const PushArguments& arguments);

// Until the server has all. False, with a word on stderr: a signal came, or it took nothing for so
// long. What goes on meanwhile is told on stderr.
bool push_once(push::PushAgent& agent, const PushArguments& arguments, const StopSignals& signals);

}  // namespace llmb::cli
