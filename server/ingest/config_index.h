// ConfigIndex: where the llmb-config files of one root are, and which of them belongs to a log:
// llmb-config_<JOBID>.yaml of its job, in the log's own directory or the nearest one above it, else
// the llmb-config.yaml beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace llmb::ingest {

class ConfigIndex {
 public:
  // True when this file is new, or has changed since it was last met.
  bool note(const std::string& relative_path, std::uint64_t inode, std::int64_t changed_ns);

  // Empty where there is none. A log without a job id gets the only llmb-config_<JOBID>.yaml beside
  // it where there is no llmb-config.yaml.
  std::string config_for(const std::string& log_path, std::optional<std::int64_t> job_id) const;

  std::size_t size() const { return count_; }

 private:
  struct ConfigFile {
    std::string directory;
    std::string relative_path;
    std::uint64_t inode = 0;
    std::int64_t changed_ns = 0;
  };
  std::unordered_map<std::int64_t, std::vector<ConfigFile>> by_job_;
  std::string of_directory(const std::string& directory) const;

  std::unordered_map<std::string, std::vector<std::int64_t>> jobs_by_directory_;
  std::unordered_map<std::string, ConfigFile> without_job_;  // by directory
  std::size_t count_ = 0;
};

// The job id in the name of a llmb-config.
std::optional<std::int64_t> job_id_of_config(std::string_view relative_path);

// True when `directory` is the log's own, or above it. "" is the root.
bool is_at_or_above(std::string_view directory, std::string_view log_path);

// "a/b" of "a/b/c"; empty for what lies in the root.
std::string_view directory_of(std::string_view path);

}  // namespace llmb::ingest
