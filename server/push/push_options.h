// PushOptions: where an agent pushes to, as whom, and how patiently.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "parser/result.h"
#include "server/http/client.h"
#include "storage/push_store.h"

namespace llmb::push {

// `size` bytes of a log, which was read beyond them, from `begin` on. Fails where the log is gone
// or is another one by now. Returns within some seconds, whatever the log's file system does.
using ReadLogText = std::function<parser::Result<std::string>(
    const storage::PushStore::LogText& log, std::uint64_t begin, std::uint64_t size)>;

struct PushOptions {
  http::Url server;
  std::string ca_file;     // PEM; empty: those that the system trusts
  std::string token_file;  // read anew for each request, so that a token may be exchanged
  std::string cluster;
  std::string machine;  // shown by the server
  std::string version;
  std::string database_path;  // a Writer has opened it
  ReadLogText read_text;      // of whose logs the text is sent, too; empty: of none
  std::chrono::milliseconds look_interval{1'000};
  std::chrono::milliseconds retry_first{1'000};  // back-off doubles up to retry_longest
  std::chrono::milliseconds retry_longest{60'000};
  // For somebody to do something about a token, or a server that takes nothing.
  std::chrono::milliseconds forbidden_rest{15'000};
  // The text of a log that grows is sent at most this often.
  std::chrono::milliseconds text_rest{10'000};
  // Who has nothing to send says so, this often.
  std::chrono::milliseconds heartbeat{45'000};
  // The database goes once the server has all: the agent says so then, the server forgets it as an
  // agent, and it says no more.
  bool leaves_when_level = false;
};

}  // namespace llmb::push
