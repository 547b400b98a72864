// InnerMounts: the directories below a root at which another file system was seen to begin, since
// this process began. While one of them is not mounted, what was read from it is out of reach, and
// not gone: a log that is missing there is no lost log.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/ingest/root_directory.h"

namespace llmb::ingest {

class InnerMounts {
 public:
  // A directory that was opened just now, on `device`; the one above it is on `device_above`.
  // False: another file system was mounted there before, and is not now.
  bool see(const std::string& relative_path, std::uint64_t device, std::uint64_t device_above);

  // Asks the file system: whether one is missing on the way to `relative_path`, or there.
  bool is_missing_on_the_way(const RootDirectory& root, const std::string& relative_path) const;
  // Asks for each: the paths of those that are missing.
  std::vector<std::string> missing(const RootDirectory& root) const;

  void clear() { mounts_.clear(); }

 private:
  struct Mount {
    std::string relative_path;
    std::uint64_t device_above = 0;
  };
  static bool is_missing(const RootDirectory& root, const Mount& mount);

  std::vector<Mount> mounts_;  // few
};

}  // namespace llmb::ingest
