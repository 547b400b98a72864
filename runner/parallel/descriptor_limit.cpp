#include "runner/parallel/descriptor_limit.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>

#include "runner/parallel/communicator.h"

namespace llmb::runner {
namespace {

// Beside those of ranks: logs, checkpoints, the libraries' own, and visitors of the rendezvous.
constexpr rlim_t kOthers = 64;

}  // namespace

void allow_sockets_of(int ranks) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  if (limit.rlim_cur < limit.rlim_max) {
    const rlimit raised{limit.rlim_max, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  const rlim_t needed = static_cast<rlim_t>(ranks) + kOthers;
  if (limit.rlim_cur >= needed) return;
  throw CommunicationError(fmt::format(
      "each of {} ranks needs a socket to each other one, and this process may have {} files open: "
      "raise the hard limit (ulimit -Hn) of the nodes to {} or more",
      ranks, limit.rlim_cur, needed));
}

bool is_lack_of_descriptors(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace llmb::runner
