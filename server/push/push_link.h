// PushLink: the two requests of an agent, as values: what the server holds, and what it is told.
// Makes a sentence and a rest of whatever goes wrong. Not thread-safe, but for `stop`, and for
// send(), which any number of threads may call.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parser/foundation/instant.h"
#include "server/push/push_options.h"
#include "server/push/push_request.h"
#include "storage/push_records.h"

namespace llmb::push {

struct LinkAnswer {
  std::string trouble;  // what went wrong; empty: nothing
  // How long the server, or the kind of trouble, wants to be left alone; nothing: back off.
  std::optional<std::chrono::milliseconds> rest;
  bool is_refused = false;    // what was told is at fault, not the way there
  bool is_forbidden = false;  // the token is at fault, or there is none
  bool is_busy = false;       // the server has no room for another request just now
  std::string instance;
  std::vector<storage::PushResult> results;
  std::vector<storage::HeldLog> held;
  std::vector<std::optional<std::uint64_t>> text_ends;  // of each block, see LogTexts::keep()
  std::optional<std::int64_t> next_after;
};

class PushLink {
 public:
  // Both references outlive it.
  PushLink(const PushOptions& options, std::string store_id, const std::atomic<bool>& stop);

  LinkAnswer held_logs(std::int64_t after) const;
  // A request that tells `logs`, each as packed_log(); one that is the last of this database; and
  // the sending of either.
  std::string body(const std::vector<std::string>& logs) const;
  std::string last_body() const;
  LinkAnswer send(std::string body) const;
  LinkAnswer send_text(const std::vector<storage::LogBlockTelling>& blocks) const;
  // What every telling says of how far behind this agent is.
  void say_behind(std::int64_t logs_pending, std::optional<parser::Instant> since);

 private:
  PushHead head() const;
  // Fills `answer`, and the body of one that is 200.
  std::string ask(http::ClientRequest request, LinkAnswer& answer) const;

  const PushOptions& options_;
  const http::Client client_;
  const std::string store_id_;
  const std::atomic<bool>& stop_;
  std::int64_t logs_pending_ = 0;
  std::optional<parser::Instant> pending_since_;
};

}  // namespace llmb::push
