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
  std::string directory(directory_of(relative_path));
  const auto update = [&](ConfigFile& known) {
    const bool is_changed = known.inode != inode || known.changed_ns != changed_ns;
    known.inode = inode;
    known.changed_ns = changed_ns;
    return is_changed;
  };
  if (!job_id) {
    if (!relative_path.substr(directory.size()).ends_with("llmb-config.yaml")) return false;
    const auto [known, is_new] = without_job_.try_emplace(
        directory, ConfigFile{directory, relative_path, inode, changed_ns});
    if (is_new) ++count_;
    return is_new || update(known->second);
  }
  for (ConfigFile& known : by_job_[*job_id]) {
    if (known.relative_path == relative_path) return update(known);
  }
  jobs_by_directory_[directory].push_back(*job_id);
  by_job_[*job_id].push_back({std::move(directory), relative_path, inode, changed_ns});
  ++count_;
  return true;
}

std::string ConfigIndex::of_directory(const std::string& directory) const {
  const auto known = without_job_.find(directory);
  return known == without_job_.end() ? std::string() : known->second.relative_path;
}

std::string ConfigIndex::config_for(const std::string& log_path,
                                    std::optional<std::int64_t> job_id) const {
  const std::string own_directory(directory_of(log_path));
  std::string of_own_directory = of_directory(own_directory);
  if (!job_id) {
    if (!of_own_directory.empty()) return of_own_directory;
    const auto beside = jobs_by_directory_.find(own_directory);
    if (beside == jobs_by_directory_.end() || beside->second.size() != 1) return {};
    job_id = beside->second.front();
  }
  const auto of_job = by_job_.find(*job_id);
  if (of_job == by_job_.end()) return of_own_directory;
  const ConfigFile* nearest = nullptr;
  for (const ConfigFile& config : of_job->second) {
    if (!is_at_or_above(config.directory, log_path)) continue;
    if (nearest == nullptr || config.directory.size() > nearest->directory.size()) {
      nearest = &config;
    }
  }
  return nearest == nullptr ? of_own_directory : nearest->relative_path;
}

}  // namespace llmb::ingest
