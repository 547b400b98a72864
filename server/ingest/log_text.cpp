#include "server/ingest/log_text.h"

#include <string_view>
#include <utility>

#include "parser/layout/run_path.h"
#include "server/unpacking/unpacked_text.h"

namespace llmb::ingest {

parser::Result<OpenResult> open_log_text(const RootDirectory& root,
                                         const std::string& relative_path) {
  LogFile opened = open_log_file(root, relative_path, true);
  if (opened.error != 0) return OpenResult{{}, opened.error};
  auto text = text_of_log(std::move(opened));
  if (!text) return tl::unexpected(text.error());
  return OpenResult{*std::move(text), 0};
}

parser::Result<parser::FileDescriptor> text_of_log(LogFile file) {
  auto log = examine_log(std::move(file));
  if (!log) return tl::unexpected(log.error());
  if (!log->is_packed()) return std::move(log->file);
  auto text = unpacking::unpack_file(log->file.get(), log->packing);
  if (!text) return tl::unexpected(text.error());
  return std::move(text->file);
}

std::string text_file_name(const std::string& relative_path) {
  const std::string_view path(relative_path);
  return std::string(parser::uncompressed_name(path.substr(path.rfind('/') + 1)));  // npos + 1: 0
}

}  // namespace llmb::ingest
