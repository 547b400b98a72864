#include "server/ingest/directory_watch.h"

#include <sys/inotify.h>

#include <array>
#include <cstring>

namespace llmb::ingest {
namespace {

constexpr std::uint32_t kEvents = IN_CREATE | IN_MOVED_TO | IN_MODIFY | IN_CLOSE_WRITE | IN_ONLYDIR;

std::string watch_key(std::uint32_t root, const std::string& relative_path) {
  return std::to_string(root) + '/' + relative_path;
}

}  // namespace

DirectoryWatch::DirectoryWatch(std::size_t watches_max)
    : fd_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)), watches_max_(watches_max) {}

bool DirectoryWatch::add(std::uint32_t root, const std::string& relative_path, int fd) {
  if (!fd_.is_open()) return false;
  std::string key = watch_key(root, relative_path);
  if (watched_.contains(key)) return true;
  if (by_descriptor_.size() >= watches_max_) return false;
  // By the open descriptor: a name could meanwhile lead elsewhere.
  const std::string self = "/proc/self/fd/" + std::to_string(fd);
  const int descriptor = inotify_add_watch(fd_.get(), self.c_str(), kEvents);
  if (descriptor < 0) {
    // The user's limit is reached: do not ask again for every directory.
    if (errno == ENOSPC || errno == ENOMEM) watches_max_ = by_descriptor_.size();
    return false;
  }
  // The same directory under a new name keeps its descriptor.
  if (const auto known = by_descriptor_.find(descriptor); known != by_descriptor_.end()) {
    watched_.erase(watch_key(known->second.root, known->second.relative_path));
  }
  by_descriptor_[descriptor] = {root, relative_path};
  watched_.insert(std::move(key));
  return true;
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
      if ((event->mask & IN_IGNORED) != 0) {
        watched_.erase(watch_key(watched->second.root, watched->second.relative_path));
        by_descriptor_.erase(watched);
        continue;
      }
      if (event->len == 0) continue;
      on_event({watched->second.root, watched->second.relative_path, event->name,
                (event->mask & IN_ISDIR) != 0});
    }
  }
}

}  // namespace llmb::ingest
