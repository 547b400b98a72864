#include "server/backfill/measure.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>

#include "server/ingest/root_directory.h"
#include "server/ingest/tree_walk.h"

namespace llmb::backfill {

parser::Result<MeasuredRoot> measure_root(const std::string& path,
                                          const std::function<bool()>& goes_on) {
  auto opened = ingest::RootDirectory::open(path);
  if (!opened) return tl::unexpected(opened.error());
  ingest::TreeWalk walk(std::make_shared<const ingest::RootDirectory>(std::move(*opened)));
  walk.add_directory("");
  MeasuredRoot root;
  while (!walk.is_done()) {
    if (!goes_on()) return parser::fail(fmt::format("stopped while measuring {}", path));
    walk.step([&](const ingest::Candidate& candidate) {
      if (candidate.role == parser::FileRole::llmb_config) return;
      const auto facts = ingest::stat_candidate(candidate);
      if (facts) root.folder.add_log(candidate.relative_path, facts->size_bytes);
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
