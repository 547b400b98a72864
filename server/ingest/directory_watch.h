// DirectoryWatch: inotify as an accelerator of polling, on local file systems. Every failure here
// (no inotify, too many watches, a lost event) only means that a scan finds the change later.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "parser/foundation/file_descriptor.h"
#include "server/ingest/file_table.h"

namespace llmb::ingest {

class DirectoryWatch {
 public:
  struct Event {
    enum class Kind {
      changed,    // the entry `name` came, or was written to
      removed,    // the entry `name` is gone
      unwatched,  // the directory itself was removed or renamed: its watch is gone
    };
    Kind kind = Kind::changed;
    DirectoryIndex directory = 0;
    std::string_view name;
    bool is_directory = false;  // the entry is a directory
  };

  DirectoryWatch();

  struct Added {
    enum class Kind { watched, refused, limit_reached };
    Kind kind = Kind::refused;
    // The directory had this index before, under another name, and has lost that watch.
    std::optional<DirectoryIndex> displaced;
  };
  // Watches the directory that is open as `fd`.
  Added add(DirectoryIndex directory, int fd);
  void remove(DirectoryIndex directory);
  void clear();

  // Calls back for all events that wait. Returns false when events were lost: scan everything.
  bool drain(const std::function<void(const Event&)>& on_event);

  // To be waited on for reading; -1 where there is no inotify.
  int fd() const { return fd_.get(); }

 private:
  void forget(int descriptor);

  parser::FileDescriptor fd_;
  std::unordered_map<int, DirectoryIndex> by_descriptor_;
  std::unordered_map<DirectoryIndex, int> descriptors_;
};

}  // namespace llmb::ingest
