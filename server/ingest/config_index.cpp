#include "server/ingest/config_index.h"

#include "parser/foundation/parse_number.h"

namespace llmb::ingest {

std::string_view directory_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::optional<std::int64_t> job_id_of_config(std::string_view relative_path) {
  constexpr std::string_view kPrefix = "llmb-config_";
  const auto slash = relative_path.rfind('/');
  std::string_view name =
      slash == std::string_view::npos ? relative_path : relative_path.substr(slash + 1);
  const auto dot = name.rfind('.');
  if (!name.starts_with(kPrefix) || dot == std::string_view::npos) return std::nullopt;
  name = name.substr(kPrefix.size(), dot - kPrefix.size());
  return parser::parse_integer(name);
}

bool is_at_or_above(std::string_view directory, std::string_view log_path) {
  if (directory.empty()) return true;
  return log_path.size() > directory.size() && log_path.starts_with(directory) &&
         log_path[directory.size()] == '/';
}

bool ConfigIndex::note(const std::string& relative_path, std::uint64_t inode,
                       std::int64_t changed_ns) {
  const auto job_id = job_id_of_config(relative_path);
  if (!job_id) return false;
  for (ConfigFile& known : by_job_[*job_id]) {
    if (known.relative_path != relative_path) continue;
    const bool is_changed = known.inode != inode || known.changed_ns != changed_ns;
    known.inode = inode;
    known.changed_ns = changed_ns;
    return is_changed;
  }
  std::string directory(directory_of(relative_path));
  jobs_by_directory_[directory].push_back(*job_id);
  by_job_[*job_id].push_back({std::move(directory), relative_path, inode, changed_ns});
  ++count_;
  return true;
}

std::string ConfigIndex::config_for(const std::string& log_path,
                                    std::optional<std::int64_t> job_id) const {
  const std::string own_directory(directory_of(log_path));
  if (!job_id) {
    const auto beside = jobs_by_directory_.find(own_directory);
    if (beside == jobs_by_directory_.end() || beside->second.size() != 1) return {};
    job_id = beside->second.front();
  }
  const auto of_job = by_job_.find(*job_id);
  if (of_job == by_job_.end()) return {};
  const ConfigFile* nearest = nullptr;
  for (const ConfigFile& config : of_job->second) {
    if (!is_at_or_above(config.directory, log_path)) continue;
    if (nearest == nullptr || config.directory.size() > nearest->directory.size()) {
      nearest = &config;
    }
  }
  return nearest == nullptr ? std::string() : nearest->relative_path;
}

}  // namespace llmb::ingest
