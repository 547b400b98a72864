// RunPath: what the path of a log says. Understands both trees of the recipes:
//   experiments/<name>/<name>_<timestamp>/<name>/log-<account>.<name>_<jobid>_<retry>.out
//   results/<version>/<dtype>/<size>/<gpus>/<name>_<jobid>.out     (see results_tree.h)
// the 26.x form experiments/<name>/<timestamp>/slurm-<jobid>.out, and a log of any name in an
// experiment's own folder, experiments/<name>.
// Pure: looks at the text of the path only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "parser/layout/run_configuration.h"

namespace llmb::parser {

struct RunPath {
  std::string experiment;                  // <name>; the file's stem where the tree says nothing
  std::optional<std::string> launched_at;  // RFC 3339 UTC, from the timestamp (s or ns)
  std::optional<std::string> launch_id;    // <name>_<timestamp>
  std::optional<std::string> account;      // prefix of the log's name
  std::optional<std::int64_t> job_id;
  std::optional<std::int64_t> retry;  // SLURM_RESTART_COUNT
  RunConfiguration configuration;     // from the path (results tree) and the experiment's name

  bool operator==(const RunPath&) const = default;
};

// The folders of a recipes' tree in which its logs lie.
inline constexpr std::array<std::string_view, 2> kTreeFolders = {"experiments", "results"};
bool is_tree_folder(std::string_view name);

// What a file's name makes of it. Only training logs become runs.
enum class FileRole {
  training_log,
  batch_script_output,   // sbatch_*.out
  voltage_boost_output,  // vboost*.out
  llmb_config,           // llmb-config_<JOBID>.yaml, llmb-config.yaml
  compressed_log,        // what would be a training log, were it unpacked: *.out.gz
  other,
};

// `relative_path`: below the watched root, '/' between parts.
FileRole classify_file(std::string_view relative_path);
// What gzip, zstd, xz, bzip2, lz4 and zip put behind the name of a file that they compress.
inline constexpr std::array<std::string_view, 6> kCompressedSuffixes = {".gz",  ".zst", ".xz",
                                                                        ".bz2", ".lz4", ".zip"};
// The name before that; the whole name where it has no such ending.
std::string_view uncompressed_name(std::string_view name);
// Of a compressed log: what the path of the log itself says.
RunPath parse_run_path(std::string_view relative_path);

}  // namespace llmb::parser
