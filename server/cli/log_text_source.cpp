#include "server/cli/log_text_source.h"

#include <fmt/format.h>

#include <cstring>

#include "server/dispatch/file_call.h"
#include "server/ingest/file_identity.h"
#include "server/ingest/log_text.h"
#include "server/ingest/root_directory.h"

namespace llmb::cli {
namespace {

parser::Result<std::string> read_text(const storage::PushStore::LogText& log, std::uint64_t begin,
                                      std::uint64_t size) {
  const auto root = ingest::RootDirectory::open(log.root_path);
  if (!root) return tl::unexpected(root.error());
  const auto opened = ingest::open_log_text(*root, log.relative_path);
  if (!opened) return tl::unexpected(opened.error());
  if (opened->error != 0) return parser::fail(std::strerror(opened->error));
  const int file = opened->fd.get();
  const auto identity = ingest::check_identity(file, log.cursor);
  if (!identity) return tl::unexpected(identity.error());
  if (*identity != ingest::Identity::same) return parser::fail("it was rewritten");
  auto text = ingest::read_at(file, begin, size);
  if (text && text->size() != size) return parser::fail("it became shorter");
  return text;
}

}  // namespace

push::ReadLogText log_text_source() {
  return [](const storage::PushStore::LogText& log, std::uint64_t begin, std::uint64_t size) {
    return dispatch::ask_file_system<std::string>(
        fmt::format("{}/{}", log.root_path, log.relative_path),
        [=] { return read_text(log, begin, size); }, dispatch::kFilePatience, log.root_path);
  };
}

}  // namespace llmb::cli
