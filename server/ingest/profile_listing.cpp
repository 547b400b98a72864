#include "server/ingest/profile_listing.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "parser/foundation/directory_listing.h"

namespace llmb::ingest {
namespace {

std::optional<FileFacts> stat_regular(int directory_fd, const char* name) {
  struct stat status {};
  if (fstatat(directory_fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  return file_facts(status);
}

}  // namespace

std::optional<std::vector<storage::ProfileFile>> list_profiles(const RootDirectory& root,
                                                               const std::string& log_path,
                                                               std::optional<std::int64_t> job_id) {
  std::vector<storage::ProfileFile> profiles;
  const std::string folder =
      log_path.substr(0, log_path.rfind('/') + 1) + std::string(parser::kProfileFolder);
  const OpenResult opened = root.open_directory(folder);
  if (opened.error == ENOENT || opened.error == ENOTDIR || opened.error == ELOOP) return profiles;
  if (opened.error != 0) return std::nullopt;
  parser::FileDescriptor readable(openat(opened.fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!readable.is_open()) return std::nullopt;
  parser::DirectoryListing listing(std::move(readable));
  if (!listing.is_open()) return std::nullopt;
  while (const dirent* const entry = listing.next()) {
    const auto name = parser::parse_profile_name(entry->d_name);
    if (!name || (name->job_id && job_id && *name->job_id != *job_id)) continue;
    const auto facts = stat_regular(listing.descriptor(), entry->d_name);
    if (!facts) continue;
    storage::ProfileFile& profile = profiles.emplace_back();
    profile.relative_path = folder + '/' + entry->d_name;
    profile.size_bytes = facts->size_bytes;
    profile.name = *name;
    profile.name.job_id.reset();  // the run's own
    if (profiles.size() == kProfilesMax) break;
  }
  std::sort(profiles.begin(), profiles.end(),
            [](const auto& a, const auto& b) { return a.relative_path < b.relative_path; });
  return profiles;
}

}  // namespace llmb::ingest
