#include "server/backfill/measure.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "parser/layout/run_path.h"
#include "server/ingest/root_directory.h"
#include "server/ingest/tree_walk.h"
#include "server/unpacking/packing.h"

namespace llmb::backfill {
namespace {

// Of a compressed log only what its text has is work. gzip makes training logs 2 to 12 times
// smaller, half of them more than 7.
constexpr std::uint64_t kTextBytesPerPackedByte = 8;

std::uint64_t text_bytes(const std::string& path, std::uint64_t size_bytes) {
  return unpacking::is_unpacked_by_name(path) ? size_bytes * kTextBytesPerPackedByte : size_bytes;
}

// A compressed one only where it can be unpacked, and the log itself is not there.
bool is_read(const ingest::RootDirectory& root, const std::string& path) {
  const std::string_view log_path = parser::uncompressed_name(path);
  if (log_path == path) return true;
  return unpacking::is_unpacked_by_name(path) && !root.stat_file(std::string(log_path));
}

}  // namespace

parser::Result<MeasuredRoot> measure_root(const std::string& path,
                                          const std::function<bool()>& goes_on) {
  auto opened = ingest::RootDirectory::open(path);
  if (!opened) return tl::unexpected(opened.error());
  const auto directory = std::make_shared<const ingest::RootDirectory>(std::move(*opened));
  ingest::TreeWalk walk(directory);
  walk.add_directory("");
  MeasuredRoot root;
  while (!walk.is_done()) {
    if (!goes_on()) return parser::fail(fmt::format("stopped while measuring {}", path));
    walk.step([&](const ingest::Candidate& candidate) {
      if (candidate.role == parser::FileRole::llmb_config) return;
      if (!is_read(*directory, candidate.relative_path)) return;
      const auto facts = ingest::stat_candidate(candidate);
      if (!facts) return;
      root.folder.add_log(candidate.relative_path,
                          text_bytes(candidate.relative_path, facts->size_bytes));
    });
    for (const ingest::UnreadableDirectory& unreadable : walk.take_unreadable()) {
      const std::string said = std::strerror(unreadable.error);
      if (unreadable.relative_path.empty()) {
        return parser::fail(fmt::format("cannot list the root {}: {}", path, said));
      }
      root.notes.push_back(fmt::format("cannot list {}/{}: {}; no log in it is counted", path,
                                       unreadable.relative_path, said));
    }
  }
  return root;
}

}  // namespace llmb::backfill
