#include "server/ingest/directory_watch.h"

#include <fmt/format.h>
#include <sys/inotify.h>

#include <array>
#include <cerrno>
#include <string>

namespace llmb::ingest {
namespace {

constexpr std::uint32_t kChanges = IN_CREATE | IN_MOVED_TO | IN_MODIFY | IN_CLOSE_WRITE;
constexpr std::uint32_t kRemovals = IN_DELETE | IN_MOVED_FROM;
constexpr std::uint32_t kEvents = kChanges | kRemovals | IN_MOVE_SELF | IN_ONLYDIR;

}  // namespace

DirectoryWatch::DirectoryWatch() : fd_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {}

DirectoryWatch::Added DirectoryWatch::add(DirectoryIndex directory, int fd) {
  Added added;
  if (!fd_.is_open()) return added;
  // By the open descriptor: a name could meanwhile lead elsewhere.
  const std::string self = fmt::format("/proc/self/fd/{}", fd);
  const int descriptor = inotify_add_watch(fd_.get(), self.c_str(), kEvents);
  if (descriptor < 0) {
    if (errno == ENOSPC || errno == ENOMEM) added.kind = Added::Kind::limit_reached;
    return added;
  }
  // The same directory under a new name keeps its descriptor.
  if (const auto known = by_descriptor_.find(descriptor);
      known != by_descriptor_.end() && known->second != directory) {
    added.displaced = known->second;
    descriptors_.erase(known->second);
  }
  by_descriptor_[descriptor] = directory;
  descriptors_[directory] = descriptor;
  added.kind = Added::Kind::watched;
  return added;
}

void DirectoryWatch::remove(DirectoryIndex directory) {
  const auto known = descriptors_.find(directory);
  if (known == descriptors_.end()) return;
  inotify_rm_watch(fd_.get(), known->second);
  forget(known->second);
}

void DirectoryWatch::clear() {
  by_descriptor_.clear();
  descriptors_.clear();
  fd_ = parser::FileDescriptor(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
}

void DirectoryWatch::forget(int descriptor) {
  const auto known = by_descriptor_.find(descriptor);
  if (known == by_descriptor_.end()) return;
  descriptors_.erase(known->second);
  by_descriptor_.erase(known);
}

bool DirectoryWatch::drain(const std::function<void(const Event&)>& on_event) {
  if (!fd_.is_open()) return true;
  bool is_whole = true;
  alignas(inotify_event) std::array<char, std::size_t{64} * 1024> buffer;
  while (true) {
    const ssize_t length = read(fd_.get(), buffer.data(), buffer.size());
    if (length <= 0) return is_whole;
    for (ssize_t at = 0; at < length;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      if ((event->mask & IN_Q_OVERFLOW) != 0) {
        is_whole = false;
        continue;
      }
      const auto watched = by_descriptor_.find(event->wd);
      if (watched == by_descriptor_.end()) continue;
      const DirectoryIndex directory = watched->second;
      if ((event->mask & (IN_IGNORED | IN_MOVE_SELF)) != 0) {
        if ((event->mask & IN_MOVE_SELF) != 0) inotify_rm_watch(fd_.get(), event->wd);
        forget(event->wd);
        on_event({Event::Kind::unwatched, directory, {}, true});
        continue;
      }
      if (event->len == 0) continue;
      const bool is_removal = (event->mask & kRemovals) != 0;
      on_event({is_removal ? Event::Kind::removed : Event::Kind::changed, directory, event->name,
                (event->mask & IN_ISDIR) != 0});
    }
  }
}

}  // namespace llmb::ingest
