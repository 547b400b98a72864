#include "server/ingest/log_text.h"

#include <string_view>
#include <utility>

#include "server/ingest/open_log.h"
#include "server/unpacking/unpacked_text.h"

namespace llmb::ingest {
namespace {

// The log, or its compressed form where it has one; the path says which.
OpenResult open_either(const RootDirectory& root, std::string& path) {
  OpenResult log = root.open_file(path);
  if (!means_no_such_file(log.error)) return log;
  for (const std::string_view suffix : unpacking::kSuffixes) {
    OpenResult packed = root.open_file(path + std::string(suffix));
    if (packed.error != 0) continue;
    path += suffix;
    return packed;
  }
  return log;
}

}  // namespace

parser::Result<OpenResult> open_log_text(const RootDirectory& root,
                                         const std::string& relative_path) {
  std::string path = relative_path;
  OpenResult opened = open_either(root, path);
  if (opened.error != 0) return opened;
  auto log = examine_log(std::move(opened.fd), path);
  if (!log) return tl::unexpected(log.error());
  if (!log->is_packed()) return OpenResult{std::move(log->file), 0};
  auto text = unpacking::unpack_file(log->file.get(), log->packing);
  if (!text) return tl::unexpected(text.error());
  return OpenResult{*std::move(text), 0};
}

}  // namespace llmb::ingest
