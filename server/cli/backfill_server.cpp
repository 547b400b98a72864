#include "server/cli/backfill_server.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <iostream>

#include "server/cli/exit_codes.h"
#include "server/cli/push_arguments.h"
#include "server/push/push_link.h"
#include "server/report/text_table.h"

namespace llmb::cli {
namespace {

constexpr std::chrono::seconds kAnswerMax{15};
constexpr std::chrono::milliseconds kBetweenAnswerLooks{50};

struct ServerWord {
  push::LinkAnswer answer;
  int signal = 0;  // came meanwhile
};

// Which logs it holds beyond the last one that it could have: none, where it answers.
ServerWord hear_server(const push::PushOptions& options, const std::string& store_id,
                       const StopSignals& signals) {
  std::atomic<bool> stop = false;
  const push::PushLink link(options, store_id, stop);
  auto answer = std::async(std::launch::async, [&] { return link.held_logs(INT64_MAX); });
  ServerWord word;
  const auto deadline = std::chrono::steady_clock::now() + kAnswerMax;
  while (answer.wait_for(std::chrono::seconds(0)) != std::future_status::ready && !stop) {
    word.signal = signals.wait(kBetweenAnswerLooks);
    stop = word.signal != 0 || std::chrono::steady_clock::now() >= deadline;
  }
  word.answer = answer.get();
  if (stop && word.signal == 0 && !word.answer.trouble.empty()) {
    word.answer.trouble = fmt::format("no answer within {} s", kAnswerMax.count());
  }
  return word;
}

}  // namespace

parser::Result<push::PushOptions> push_options_of(const backfill::Manifest& manifest) {
  auto push = push_options({manifest.server, manifest.token_file, manifest.ca_file,
                            manifest.cluster, manifest.sends_text});
  if (!push) return tl::unexpected(push.error());
  if (!*push) return parser::fail("the manifest names no server");
  return std::move(**push);
}

tl::expected<void, BackfillRefusal> ask_server(const backfill::Manifest& manifest, bool uses_slurm,
                                               const StopSignals& signals) {
  const auto refuse = [](std::string message, int exit_code) {
    return tl::unexpected(BackfillRefusal({std::move(message)}, exit_code));
  };
  const auto options = push_options_of(manifest);
  if (!options) return refuse(options.error().message, kBadArguments);
  const ServerWord word = hear_server(*options, manifest.id, signals);
  if (word.signal != 0) {
    return refuse(fmt::format("ended by signal {}; no task was begun", word.signal),
                  kSignalExit + word.signal);
  }
  std::string trouble = word.answer.trouble;
  if (trouble.ends_with('.')) trouble.pop_back();  // it stands in a sentence of ours
  if (trouble.empty() || word.answer.is_busy) return {};
  if (word.answer.is_forbidden) {
    return refuse(
        fmt::format("{} does not take the token of {}: {}. No task was begun. `llmb-report token "
                    "create NAME --scope ingest --for-cluster {}`, said there, makes one; then "
                    "say the same again",
                    manifest.server, manifest.token_file, trouble, manifest.cluster),
        kFailed);
  }
  if (uses_slurm) {
    std::cerr << fmt::format(
        "note: {} cannot be pushed to from here: {}. Tasks that do not reach it either fail "
        "after five minutes; the same command begins them again\n",
        manifest.server, report::printable(trouble));
    return {};
  }
  return refuse(
      fmt::format("cannot push to {}: {}. No task was begun. Start `llmb-report serve --receive` "
                  "there, or correct --push; then say the same again",
                  manifest.server, trouble),
      kFailed);
}

}  // namespace llmb::cli
