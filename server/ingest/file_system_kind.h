// What kind of file system a directory is on: decides whether change events can be trusted to
// come, and whether metadata operations must be rationed.
#pragma once

namespace llmb::ingest {

// local: all writes happen on this host, so inotify sees them. remote: anything else, and
// everything that is not known.
enum class FileSystemKind { local, remote };

FileSystemKind file_system_kind(int fd);
FileSystemKind file_system_kind_of_magic(unsigned long magic);

}  // namespace llmb::ingest
