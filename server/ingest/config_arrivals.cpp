#include "server/ingest/config_arrivals.h"

#include <cctype>
#include <charconv>
#include <chrono>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "parser/foundation/instant.h"
#include "server/ingest/config_index.h"

namespace llmb::ingest {
namespace {

constexpr std::chrono::hours kConfigMargin{1};

// Every number in a log's name that may be its job id.
template <typename Visit>
bool any_number(std::string_view name, Visit&& visit) {
  const char* at = name.data();
  const char* const end = at + name.size();
  while (at != end) {
    if (std::isdigit(static_cast<unsigned char>(*at)) == 0) {
      ++at;
      continue;
    }
    std::int64_t number = 0;
    const auto [rest, error] = std::from_chars(at, end, number);
    if (error == std::errc() && visit(number)) return true;
    at = rest;
  }
  return false;
}

std::string_view name_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

void ConfigArrivals::note(WatchedRoot& root, const std::string& relative_path,
                          const FileFacts& facts) {
  if (!root.configs.note(relative_path, facts.inode, facts.changed_ns)) return;
  const bool was_applied_before =
      root.configs_known_until &&
      parser::instant_of_unix_ns(facts.changed_ns) < *root.configs_known_until - kConfigMargin;
  if (!was_applied_before) paths_.push_back(relative_path);
}

void ConfigArrivals::match(const WatchedRoot& root, FileTable& files,
                           const std::function<void(FileIndex)>& on_match) {
  const std::vector<std::string> arrived = std::exchange(paths_, {});
  std::unordered_set<std::string> paths;
  std::unordered_set<std::int64_t> jobs;
  std::unordered_set<std::string_view> directories;
  for (const std::string& path : arrived) {
    jobs.insert(job_id_of_config(path).value_or(0));
    directories.insert(directory_of(path));
    paths.insert(path);
  }
  for (FileIndex index = 0; index < files.size(); ++index) {
    const FileState& file = files.at(index);
    if (file.is_vanished) continue;
    // The name's numbers first: parsing every path would take longer than a scan.
    const bool may_match = directories.contains(directory_of(file.relative_path)) ||
                           any_number(name_of(file.relative_path),
                                      [&](std::int64_t number) { return jobs.contains(number); });
    if (!may_match) continue;
    const auto job_id = parser::parse_run_path(file.relative_path).job_id;
    if (paths.contains(root.configs.config_for(file.relative_path, job_id))) on_match(index);
  }
}

}  // namespace llmb::ingest
