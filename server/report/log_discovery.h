// Finds the training logs that the command line names: files as they are, folders walked, and "-"
// for what stdin holds.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace llmb::report {

inline constexpr std::string_view kStdin = "-";

struct LogFile {
  std::string path;         // as the user would write it; kStdin
  std::string layout_path;  // the same with the folders above the root, for parse_run_path
  bool is_named = false;    // named on the command line: links are followed, any name will do
  // Those that may hold its llmb-config, each with its '/', the nearest first: its own, and those
  // above it in what was named.
  std::vector<std::string> config_folders = {};
  bool may_have_profiles = true;  // beside it; false where its folder holds none
};

inline constexpr std::string_view kLinkIsNotFollowed =
    "a symbolic link; name it on the command line to follow it";

struct SkippedFile {
  enum class Kind {
    problem,    // should have been read, or may have been meant to be
    by_design,  // no training log by its name: sbatch_*.out, vboost*.out
  };
  std::string path;
  std::string reason;
  Kind kind = Kind::problem;
};

// Files below named folders that are no logs by their names, and are passed over.
struct OtherFiles {
  std::size_t count = 0;
  std::size_t text_count = 0;  // of these, those that are called *.log or *.txt
  std::string first_text;      // by its path; empty without one

  void add(const std::string& path);
  void add(const OtherFiles& others);
};

struct FoundLogs {
  std::vector<LogFile> logs;  // ordered by path, each once
  std::vector<SkippedFile> skipped;
  OtherFiles others;
};

// A named root may be a link, and so may `experiments` and `results` directly in it; other links
// are not followed, so that loops end. What is named twice, in whatever words, is found once. A
// compressed log beside which the log itself lies is left out. What cannot be read is
// in `skipped`, and the rest goes on. Never blocks on a FIFO.
FoundLogs discover_logs(const std::vector<std::string>& paths);

// A log whose lines came by another way, as `grep -H` brings them; it may lie on another machine.
LogFile log_elsewhere(const std::string& path);

// Where nothing was found or read: "no training log (*.out) could be read below 'runs'; there are
// 3 other files, …", with what to do about logs of another name.
std::string no_log_text(const std::vector<std::string>& paths, const OtherFiles& others);

}  // namespace llmb::report
