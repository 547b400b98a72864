#include "server/cli/push_arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>

#include "server/cli/log_text_source.h"
#include "server/cli/version.h"
#include "server/dispatch/text_check.h"
#include "server/http/client.h"
#include "server/push/machine_name.h"
#include "server/push/push_all.h"

namespace llmb::cli {
namespace {

// For a server to take something, whatever is in its way.
constexpr std::chrono::seconds kPushPatience{60};

}  // namespace

void add_push_options(CLI::App& command, PushArguments& arguments) {
  command
      .add_option("--push", arguments.url,
                  "Send what is read to a central `llmb-report serve --receive`")
      ->type_name("URL");
  command
      .add_option("--token-file", arguments.token_file,
                  "With --push: the file that holds its token, of the scope ingest")
      ->type_name("FILE");
  command
      .add_option("--ca-file", arguments.ca_file,
                  "With --push: certificates to trust, PEM (default: the system's)")
      ->type_name("FILE");
  command
      .add_option("--cluster", arguments.cluster,
                  "With --push: the name of this cluster, as the token has it")
      ->type_name("NAME");
  command.add_flag("--push-logs", arguments.sends_text,
                   "With --push: send the text of the logs, too, so that the server can show their "
                   "lines (of one beyond 64 MiB the beginning and the end)");
}

parser::Result<std::optional<push::PushOptions>> push_options(const PushArguments& arguments) {
  if (arguments.url.empty()) {
    if (arguments.token_file.empty() && arguments.ca_file.empty() && arguments.cluster.empty() &&
        !arguments.sends_text) {
      return std::nullopt;
    }
    return parser::fail("--token-file, --ca-file, --cluster and --push-logs need --push URL");
  }
  auto server = http::parse_url(arguments.url);
  if (!server) return tl::unexpected(server.error());
  if (arguments.token_file.empty()) return parser::fail("--push needs --token-file FILE");
  if (!dispatch::is_name(arguments.cluster)) {
    return parser::fail(
        "--push needs --cluster NAME, of letters, digits, '.', '_', '-' and '+', as the token has "
        "it");
  }
  push::PushOptions options;
  options.server = std::move(*server);
  options.ca_file = arguments.ca_file;
  options.token_file = arguments.token_file;
  options.cluster = arguments.cluster;
  options.machine = push::machine_name();
  options.version = version_number();
  if (arguments.sends_text) options.read_text = log_text_source();
  return options;
}

bool push_once(push::PushAgent& agent, const StopSignals& signals) {
  const bool is_level = push::push_all(agent, kPushPatience, [&](const push::PushStatus&) {
    return signals.wait(std::chrono::milliseconds(50)) == 0;
  });
  const push::PushStatus status = agent.status();
  if (is_level) {
    std::cerr << fmt::format("the server has all; it was told {} logs\n", status.logs_answered);
    return true;
  }
  std::cerr << fmt::format(
      "llmb-report ingest: {} logs are not pushed yet{}; the next run goes on from there\n",
      status.logs_pending, status.trouble.empty() ? "" : ": " + status.trouble);
  return false;
}

}  // namespace llmb::cli
