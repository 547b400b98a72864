#include "server/ingest/inner_mounts.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

namespace llmb::ingest {

bool InnerMounts::see(const std::string& relative_path, std::uint64_t device,
                      std::uint64_t device_above) {
  const auto known = std::find_if(mounts_.begin(), mounts_.end(), [&](const Mount& mount) {
    return mount.relative_path == relative_path;
  });
  if (device == device_above) return known == mounts_.end();
  if (known == mounts_.end()) {
    mounts_.push_back({relative_path, device_above});
  } else {
    known->device_above = device_above;
  }
  return true;
}

bool InnerMounts::is_missing_on_the_way(const RootDirectory& root,
                                        const std::string& relative_path) const {
  return std::any_of(mounts_.begin(), mounts_.end(), [&](const Mount& mount) {
    const bool is_on_the_way = (relative_path + '/').starts_with(mount.relative_path + '/');
    return is_on_the_way && is_missing(root, mount);
  });
}

std::vector<std::string> InnerMounts::missing(const RootDirectory& root) const {
  std::vector<std::string> paths;
  for (const Mount& mount : mounts_) {
    if (is_missing(root, mount)) paths.push_back(mount.relative_path);
  }
  return paths;
}

// A server that does not answer is no missing mount: its errno is another.
bool InnerMounts::is_missing(const RootDirectory& root, const Mount& mount) {
  const auto status = root.stat_directory(mount.relative_path);
  if (!status) return means_no_such_file(errno);
  return static_cast<std::uint64_t>(status->st_dev) == mount.device_above;
}

}  // namespace llmb::ingest
