#include "tests/server/ingest/hanging_file_system.h"

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <mutex>
#include <string_view>

namespace llmb::ingest {
namespace {

struct State {
  std::mutex mutex;
  std::condition_variable answers;
  std::string folder;  // empty: everything answers
  HangingFileSystem::Calls calls{};
  int calls_that_hang = 0;
};

// Never destroyed: threads that were left behind may still wait here.
State& state() {
  static auto* const the_state = new State;
  return *the_state;
}

void wait_while_it_hangs(int fd, HangingFileSystem::Calls call) {
  const std::string self = "/proc/self/fd/" + std::to_string(fd);
  std::array<char, 4096> path{};
  const ssize_t length = readlink(self.c_str(), path.data(), path.size());
  if (length <= 0) return;
  const std::string_view name(path.data(), static_cast<std::size_t>(length));
  State& the_state = state();
  std::unique_lock lock(the_state.mutex);
  const auto hangs = [&] {
    return !the_state.folder.empty() && the_state.calls == call &&
           name.starts_with(the_state.folder);
  };
  if (!hangs()) return;
  ++the_state.calls_that_hang;
  the_state.answers.wait(lock, [&] { return !hangs(); });
  --the_state.calls_that_hang;
}

}  // namespace

HangingFileSystem::HangingFileSystem(const std::string& folder, Calls calls) {
  const std::lock_guard lock(state().mutex);
  state().folder = folder;
  state().calls = calls;
}

HangingFileSystem::~HangingFileSystem() {
  answer_again();
}

void HangingFileSystem::answer_again() {
  const std::lock_guard lock(state().mutex);
  state().folder.clear();
  state().answers.notify_all();
}

int HangingFileSystem::calls_that_hang() {
  const std::lock_guard lock(state().mutex);
  return state().calls_that_hang;
}

}  // namespace llmb::ingest

extern "C" {

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc's are reserved
ssize_t getdents64(int fd, void* buffer, size_t length) noexcept {
  llmb::ingest::wait_while_it_hangs(fd, llmb::ingest::HangingFileSystem::Calls::listings);
  return syscall(SYS_getdents64, fd, buffer, length);
}

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
ssize_t pread(int fd, void* buffer, size_t length, off_t offset) {
  llmb::ingest::wait_while_it_hangs(fd, llmb::ingest::HangingFileSystem::Calls::reads);
  return syscall(SYS_pread64, fd, buffer, length, offset);
}

}  // extern "C"
