#include "server/ingest/open_log.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "parser/layout/run_path.h"
#include "server/unpacking/packing.h"

namespace llmb::ingest {

std::array<std::string, unpacking::kSuffixes.size()> packed_names_of(std::string_view path) {
  std::array<std::string, unpacking::kSuffixes.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = std::string(parser::uncompressed_name(path)) + std::string(unpacking::kSuffixes[i]);
  }
  return names;
}

LogFile open_log_file(const RootDirectory& root, const std::string& relative_path,
                      bool or_packed_form) {
  OpenResult opened = root.open_file(relative_path);
  if (!or_packed_form || !means_no_such_file(opened.error)) {
    return {std::move(opened.fd), opened.error, relative_path, false};
  }
  LogFile none = {{}, opened.error, relative_path, false};
  for (const std::string& path : packed_names_of(relative_path)) {
    OpenResult packed = root.open_file(path);
    if (packed.error == 0) return {std::move(packed.fd), 0, path, true};
    // One that is there and cannot be opened is not the same as none.
    const bool is_first = means_no_such_file(none.error);
    if (is_first && !means_no_such_file(packed.error)) none = {{}, packed.error, path, true};
  }
  return none;
}

parser::Result<OpenLog> examine_log(LogFile file) {
  OpenLog log;
  log.file = std::move(file.fd);
  log.is_packed_form = file.is_packed_form;
  struct stat status {};
  if (fstat(log.file.get(), &status) != 0) {
    return parser::fail(fmt::format("cannot examine the log: {}", std::strerror(errno)));
  }
  log.facts = file_facts(status);
  const auto packing = unpacking::packing_of_file(log.file.get());
  if (!packing) return tl::unexpected(packing.error());
  log.packing = *packing;
  return log;
}

parser::Result<LogTexts::Text> LogTexts::of(const OpenLog& log,
                                            const std::function<bool()>& goes_on) {
  if (!log.is_packed()) return Text{log.file.get(), {}};
  const FileFacts& facts = log.facts;
  const bool is_kept = unpacked_.text.file.is_open() && unpacked_.inode == facts.inode &&
                       unpacked_.device == facts.device && unpacked_.changed_ns == facts.changed_ns;
  if (is_kept) return Text{unpacked_.text.file.get(), unpacked_.text.flaw};
  forget();
  auto text = unpacking::unpack_file(log.file.get(), log.packing, goes_on);
  if (!text) return tl::unexpected(text.error());
  unpacked_ = {facts.device, facts.inode, facts.changed_ns, std::move(*text)};
  return Text{unpacked_.text.file.get(), unpacked_.text.flaw};
}

}  // namespace llmb::ingest
