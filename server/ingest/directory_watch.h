// DirectoryWatch: inotify as an accelerator of polling, on local file systems. Every failure here
// (no inotify, too many watches, a lost event) only means that polling finds the change later.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "parser/foundation/file_descriptor.h"

namespace llmb::ingest {

class DirectoryWatch {
 public:
  struct Event {
    std::uint32_t root = 0;
    const std::string& directory;  // relative path
    std::string_view name;         // of the entry in it
    bool is_directory = false;     // an entry that is a directory came, or changed its name
  };

  explicit DirectoryWatch(std::size_t watches_max);

  // Watches the directory that is open as `fd`. False: it is not watched.
  bool add(std::uint32_t root, const std::string& relative_path, int fd);

  // Calls back for all events that wait. Returns false when events were lost: scan everything.
  bool drain(const std::function<void(const Event&)>& on_event);

  // To be waited on for reading; -1 where there is no inotify.
  int fd() const { return fd_.get(); }

 private:
  struct Watched {
    std::uint32_t root = 0;
    std::string relative_path;
  };
  parser::FileDescriptor fd_;
  std::size_t watches_max_;
  std::unordered_map<int, Watched> by_descriptor_;
  std::unordered_set<std::string> watched_;  // "<root>/<relative path>"
};

}  // namespace llmb::ingest
