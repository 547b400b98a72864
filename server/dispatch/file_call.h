// Calls into file systems that are others': each on a thread of its own, which is left behind where
// the file system does not answer. Where several of a tree hang already, further calls into it fail
// at once, so that a mount that hangs collects no threads. Thread-safe.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "parser/result.h"
#include "server/ingest/abandoned_call.h"

namespace llmb::dispatch {

inline constexpr std::chrono::milliseconds kFilePatience{5'000};

// One call, shared by its thread and by who waits for it: counted among those of its tree that hang
// from when it is given up until it comes back.
class FileCall {
 public:
  explicit FileCall(std::string tree) : tree_(std::move(tree)) {}
  static bool too_many_hang(const std::string& tree);
  void give_up();  // nobody waits any more
  void end();      // it came back

 private:
  const std::string tree_;
  bool has_ended_ = false;
  bool is_counted_ = false;
};

// What `call` returns, which owns all it uses; a failure where it does not come back in time, and
// what `call` throws. Calls that hang hold up those of the same `tree` only; "": all that dispatch
// reads and writes.
template <typename Value>
parser::Result<Value> ask_file_system(const std::string& path,
                                      std::function<parser::Result<Value>()> call,
                                      std::chrono::milliseconds patience = kFilePatience,
                                      const std::string& tree = {}) {
  if (FileCall::too_many_hang(tree)) {
    return parser::fail(
        fmt::format("cannot reach {}: what was asked of file systems before has not been answered "
                    "yet; is a mount hanging?",
                    path));
  }
  const auto state = std::make_shared<FileCall>(tree);
  auto answer = ingest::answer_within(patience, [call = std::move(call), state] {
    struct End {
      FileCall& of;
      ~End() { of.end(); }
    } const end{*state};
    return call();
  });
  if (answer) return *std::move(answer);
  state->give_up();
  return parser::fail(fmt::format("cannot reach {}: its file system has not answered for {} s",
                                  path, patience.count() / 1000));
}

}  // namespace llmb::dispatch
