#include "server/ingest/log_text.h"

#include <utility>

#include "server/ingest/open_log.h"
#include "server/unpacking/unpacked_text.h"

namespace llmb::ingest {
parser::Result<OpenResult> open_log_text(const RootDirectory& root,
                                         const std::string& relative_path) {
  LogFile opened = open_log_file(root, relative_path, true);
  if (opened.error != 0) return OpenResult{{}, opened.error};
  auto log = examine_log(std::move(opened));
  if (!log) return tl::unexpected(log.error());
  if (!log->is_packed()) return OpenResult{std::move(log->file), 0};
  auto text = unpacking::unpack_file(log->file.get(), log->packing);
  if (!text) return tl::unexpected(text.error());
  return OpenResult{std::move(text->file), 0};
}

}  // namespace llmb::ingest
