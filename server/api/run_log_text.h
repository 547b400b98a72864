// RunLogText: the text of a run's log, wherever this server has it. Of a tree that is watched here
// it is the file that the run was read from; links are not followed, and nothing but a regular file
// is opened. A log that was rewritten since is refused: the offsets of the run mean nothing in it;
// one that was compressed is unpacked. Of a pushed run it is the text that its agent sent along, if
// it did.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "server/api/context.h"
#include "server/report/json_fwd.h"
#include "storage/records.h"

namespace llmb::api {

struct TextPiece {
  std::uint64_t offset = 0;  // of its first byte in the log
  std::string bytes;
};

struct RunLogText {
  std::uint64_t size_bytes = 0;
  // What is there of the bytes from `begin` up to `end`, in their order: where some are missing, it
  // is in several pieces. Throws RequestError.
  std::function<std::vector<TextPiece>(std::uint64_t begin, std::uint64_t end)> read;
};

// What `ask` makes of the log's text. It owns all it uses: a file system that does not answer is
// not waited for (file_call.h), and `ask` may go on after that. Throws RequestError, and what `ask`
// throws.
report::Json ask_log_text(Context& context, storage::RunId id,
                          const std::function<report::Json(const RunLogText&)>& ask);

}  // namespace llmb::api
