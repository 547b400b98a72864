#include "runner/parallel/descriptor_limit.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "runner/parallel/communicator.h"

namespace llmb::runner {
namespace {

// Beside those of ranks: logs, checkpoints, the libraries' own. Visitors of the rendezvous make
// room for each other, and NCCL's sockets come after it and are not counted.
constexpr rlim_t kOthers = 64;

}  // namespace

std::string too_few_files_text(int ranks, const rlimit& limit, int error) {
  const rlim_t needed = static_cast<rlim_t>(ranks) + kOthers;
  if (limit.rlim_cur >= needed) return "";
  const std::string needs = fmt::format(
      "Too many open files: each of {} ranks needs a socket to each other one, {} files in all, "
      "and this process may have {} open: ",
      ranks, needed, limit.rlim_cur);
  if (error != 0) {
    return needs + fmt::format("its limit could not be raised to the hard one of {}: {}",
                               limit.rlim_max, std::generic_category().message(error));
  }
  return needs +
         fmt::format("raise the hard limit (ulimit -Hn) of the nodes to {} or more", needed);
}

void allow_sockets_of(int ranks) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  int error = 0;
  if (limit.rlim_cur < limit.rlim_max) {
    const rlimit raised{limit.rlim_max, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) {
      limit = raised;
    } else {
      error = errno;
    }
  }
  const std::string why_not = too_few_files_text(ranks, limit, error);
  if (!why_not.empty()) throw CommunicationError(why_not);
}

bool is_lack_of_descriptors(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace llmb::runner
