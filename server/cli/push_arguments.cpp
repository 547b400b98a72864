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

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kFirstWord{2};
constexpr std::chrono::seconds kBetweenWords{10};

// Another's words as a sentence of ours.
std::string with_full_stop(std::string text) {
  if (!text.ends_with('.')) text += '.';
  return text;
}

std::string all_pushed_text(const push::PushStatus& status) {
  const std::string told = push::logs_text(static_cast<std::int64_t>(status.logs_answered));
  if (status.texts_untaken == 0) return fmt::format("the server has all; it was told {}\n", told);
  return fmt::format(
      "the server has all but the text of {}, which it removed or of which another agent has read "
      "more; it was told {}\n",
      push::logs_text(static_cast<std::int64_t>(status.texts_untaken)), told);
}

// A line as soon as something is in the way or lasts, then now and then.
class PushProgress {
 public:
  explicit PushProgress(std::int64_t patience_s) : patience_s_(patience_s) {}

  void show(const push::PushStatus& status) {
    const auto now = Clock::now();
    const bool is_news = !status.trouble.empty() && status.trouble != trouble_;
    if (!is_news && now < next_at_) return;
    next_at_ = now + kBetweenWords;
    trouble_ = status.trouble;
    const bool is_known = status.logs_pending > 0 || status.logs_answered > 0 || trouble_.empty();
    std::cerr << fmt::format(
        "pushing: {} to go, {} answered",
        is_known ? push::logs_text(status.logs_pending) : "an unknown number of logs",
        status.logs_answered);
    if (!trouble_.empty()) {
      std::cerr << fmt::format("; {} Trying on, until nothing was taken for {} s.",
                               with_full_stop(trouble_), patience_s_);
    }
    std::cerr << std::endl;
  }

 private:
  std::int64_t patience_s_;
  std::string trouble_;
  Clock::time_point next_at_ = Clock::now() + kFirstWord;
};

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
  if (!arguments.ca_file.empty()) {
    if (auto checked = http::check_ca_file(arguments.ca_file); !checked) {
      return parser::fail("--ca-file: " + checked.error().message);
    }
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

bool push_once(push::PushAgent& agent, const PushArguments& arguments, const StopSignals& signals) {
  PushProgress progress(arguments.patience_s);
  const auto goes_on = [&](const push::PushStatus& status) {
    progress.show(status);
    return signals.wait(std::chrono::milliseconds(50)) == 0;
  };
  const bool is_level = push::push_all(agent, std::chrono::seconds(arguments.patience_s), goes_on);
  const push::PushStatus status = agent.status();
  if (is_level) {
    std::cerr << all_pushed_text(status);
    return true;
  }
  std::cerr << fmt::format(
      "llmb-report ingest: not pushed yet: {} The next run goes on from there.\n",
      with_full_stop(push::lacking_text(status) +
                     (status.trouble.empty() ? "" : ": " + status.trouble)));
  return false;
}

}  // namespace llmb::cli
