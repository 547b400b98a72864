// TreeWalk: finds the files that matter under a root, one directory at a time, so that a walk of
// a slow tree can be interleaved with other work. Holds no descriptor between steps, follows no
// symlink (so loops end), and opens nothing but directories.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parser/layout/run_path.h"
#include "server/ingest/root_directory.h"

namespace llmb::ingest {

// A regular file (or what may be one) with the name of a log or a llmb-config.
struct Candidate {
  const std::string& relative_path;  // valid during the call only
  parser::FileRole role;             // training_log, compressed_log or llmb_config
  std::uint64_t inode;
  int directory_fd;
  const char* name;
};
// What stat says of it; nothing where it is not, or no longer, a regular file.
std::optional<FileFacts> stat_candidate(const Candidate& candidate);

// A directory that is about to be listed: what watches it from here on misses nothing.
struct OpenDirectory {
  const std::string& relative_path;
  int fd;
  int depth;  // 0: the root
};

struct UnreadableDirectory {
  std::string relative_path;
  int error = 0;
};

class TreeWalk {
 public:
  using CandidateVisitor = std::function<void(const Candidate&)>;
  using DirectoryVisitor = std::function<void(const OpenDirectory&)>;
  // Whether a directory that was met is to be listed too.
  using Descends = std::function<bool(const std::string& relative_path)>;

  // `pruned`: relative paths of directories to leave out, which are roots of their own.
  // Empty at first: add_directory("") makes it a walk of the whole root.
  explicit TreeWalk(std::shared_ptr<const RootDirectory> root,
                    std::vector<std::string> pruned = {});

  // A directory to walk, with all below it.
  void add_directory(const std::string& relative_path);

  bool is_done() const { return pending_.empty(); }

  // Lists one directory and calls the visitors. Returns how many metadata operations that cost.
  // Without `descends` all that is below is walked.
  int step(const CandidateVisitor& on_candidate, const DirectoryVisitor& on_directory = {},
           const Descends& descends = {});

  // Of the last step: the directory, and the errno that ended its listing; 0: it was listed whole.
  const std::string& directory() const { return directory_.relative_path; }
  int error() const { return error_; }

  std::int64_t entries_seen() const { return entries_seen_; }
  // Those since the last call.
  std::vector<UnreadableDirectory> take_unreadable() { return std::exchange(unreadable_, {}); }
  // The first link since the last call behind which logs may lie that no walk of this root meets:
  // to a log, or to a directory, outside of it. Empty: there was none.
  std::string take_link() { return std::exchange(link_, {}); }

 private:
  struct Pending {
    std::string relative_path;
    int depth = 0;
  };
  void take_entry(int directory_fd, const char* name, unsigned char type, std::uint64_t inode,
                  const CandidateVisitor& on_candidate, const Descends& descends);
  void take_link_entry(int directory_fd, const char* name);

  std::shared_ptr<const RootDirectory> root_;
  std::vector<std::string> pruned_;
  std::vector<Pending> pending_;
  Pending directory_;
  int error_ = 0;
  std::vector<char> buffer_;
  std::string path_;  // reused for every candidate
  std::vector<UnreadableDirectory> unreadable_;
  std::string link_;
  std::int64_t entries_seen_ = 0;
  int operations_ = 0;
};

// By name alone, before the path is looked at: most files of a tree are neither.
bool may_be_candidate(std::string_view name);

}  // namespace llmb::ingest
