// The cut of measured trees into tasks: by bytes of logs, the same for the same trees. A folder
// that is small beside a task is one part, with all that lies below it and will yet come; a larger
// one is cut into what lies below it, down to launch folders, which stay whole. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace llmb::backfill {

struct Measure {
  std::uint64_t bytes = 0;  // of text
  std::int64_t logs = 0;
  void add(const Measure& other) {
    bytes += other.bytes;
    logs += other.logs;
  }
  bool operator==(const Measure&) const = default;
};

// A folder with the logs below it.
struct MeasuredFolder {
  Measure own;  // of the logs directly in it
  Measure all;  // with those below
  bool is_launch = false;
  std::map<std::string, MeasuredFolder, std::less<>> below;

  // A log at this path below the folder.
  void add_log(std::string_view relative_path, std::uint64_t size_bytes);
};

// What a task reads of one root: a folder.
struct Part {
  std::int64_t root = 0;  // which of the roots
  std::string folder;     // relative; "": the root
  bool is_whole = true;   // false: only the files directly in it
  Measure measure;
  bool operator==(const Part&) const = default;
};

struct Share {  // one task's
  std::vector<Part> parts;
  Measure measure;
  bool operator==(const Share&) const = default;
};

// Every log in one share, and only one. Of T shares none has more bytes than a T-th of all and the
// largest part; no part that can be cut has more than a 16 T-th. Fewer than `share_count` shares
// where there are not so many parts; none without a log. `share_count` is 1 at least.
std::vector<Share> cut(const std::vector<MeasuredFolder>& roots, std::int64_t share_count);

}  // namespace llmb::backfill
