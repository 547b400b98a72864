#include "server/api/run_log_text.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <variant>

#include "server/api/found_log.h"
#include "server/api/json.h"
#include "server/dispatch/file_call.h"
#include "server/ingest/file_identity.h"
#include "server/ingest/log_text.h"
#include "server/push/log_text_request.h"

namespace llmb::api {
namespace {

// Valid while `file` is open.
RunLogText text_of(const parser::FileDescriptor& file, const WatchedLog& log) {
  const auto identity = ingest::check_identity(file.get(), log.cursor);
  if (!identity) throw cannot_read_log(identity.error().message);
  if (*identity != ingest::Identity::same) throw log_changed();
  struct stat status {};
  if (fstat(file.get(), &status) != 0) throw cannot_read_log(std::strerror(errno));
  const auto read = [fd = file.get()](std::uint64_t begin, std::uint64_t end) {
    auto bytes = ingest::read_at(fd, begin, static_cast<std::size_t>(end - begin));
    if (!bytes) throw cannot_read_log(bytes.error().message);
    return std::vector<TextPiece>{{begin, *std::move(bytes)}};
  };
  return {static_cast<std::uint64_t>(status.st_size), read};
}

std::vector<TextPiece> pushed_pieces(const std::vector<storage::LogBlock>& blocks) {
  std::vector<TextPiece> pieces;
  for (const storage::LogBlock& block : blocks) {
    const bool goes_on =
        !pieces.empty() && pieces.back().offset + pieces.back().bytes.size() == block.first_byte;
    if (!goes_on) pieces.push_back({block.first_byte, {}});
    const auto text = push::unpacked_block(block);
    if (!text) throw damaged_text();
    pieces.back().bytes += *text;
  }
  return pieces;
}

}  // namespace

report::Json ask_log_text(Context& context, storage::RunId id,
                          const std::function<report::Json(const RunLogText&)>& ask) {
  const FoundLog found = find_log(context, id);
  if (const auto* const pushed = std::get_if<PushedLog>(&found)) {
    return ask({pushed->size_bytes, [&](std::uint64_t begin, std::uint64_t end) {
                  return pushed_pieces(context.readers.with_reader([&](storage::Reader& reader) {
                    return reader.log_blocks(pushed->run, begin, end);
                  }));
                }});
  }
  // Calls are counted by tree: who asks for logs of one that hangs holds up neither the others nor
  // the jobs.
  const WatchedLog& log = std::get<WatchedLog>(found);
  auto json = dispatch::ask_file_system<Json>(
      log.path(),
      [=]() -> parser::Result<Json> {
        const auto file = ingest::text_of_log(open_watched(log));
        if (!file) throw cannot_read_log(file.error().message);
        return ask(text_of(*file, log));
      },
      dispatch::kFilePatience, log.root_path);
  if (!json) throw cannot_read_log(json.error().message);
  return *std::move(json);
}

}  // namespace llmb::api
