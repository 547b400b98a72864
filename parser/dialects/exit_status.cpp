#include "parser/dialects/exit_status.h"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <optional>

namespace llmb::parser {
namespace {

// Shells add it to the number of the signal that ended a process.
constexpr int kSignalBase = 128;
constexpr int kSignalMax = 64;

std::optional<int> leading_integer(std::string_view text) {
  int number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

std::string_view cause_of_signal_number(int signal) {
  switch (signal) {
    case SIGSEGV:
    case SIGILL:
    case SIGFPE:
      return "segmentation_fault";
    case SIGKILL:
    case SIGBUS:
      return "task_killed";
    case SIGTERM:
      return {};
    default:
      return "child_failed";
  }
}

}  // namespace

std::string_view cause_of_exit_status(std::string_view rest) {
  const std::optional<int> status = leading_integer(rest);
  if (!status || *status == 0) return {};
  if (*status < 0) return cause_of_signal_number(-*status);
  const bool is_signal = *status > kSignalBase && *status <= kSignalBase + kSignalMax;
  return is_signal ? cause_of_signal_number(*status - kSignalBase) : "child_failed";
}

std::string_view cause_of_signal(std::string_view rest) {
  const std::optional<int> signal = leading_integer(rest);
  return signal && *signal > 0 ? cause_of_signal_number(*signal) : std::string_view();
}

std::string_view cause_of_errno(std::string_view rest) {
  const std::optional<int> number = leading_integer(rest);
  if (!number) return {};
  switch (*number) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
      return "tokenizer_or_data_missing";
    case EPERM:
    case EACCES:
    case EIO:
    case EROFS:
    case ENXIO:
    case ENODEV:
    case ESTALE:
    case EREMOTEIO:
    case ENOTCONN:
    case ESHUTDOWN:
    case EUCLEAN:
      return "file_system_error";
    case ENOSPC:
    case EDQUOT:
      return "disk_full_or_quota";
    case EMFILE:
    case ENFILE:
      return "file_limit";
    case ENOMEM:
      return "host_oom_kill";
    case EADDRINUSE:
    case ECONNREFUSED:
    case ETIMEDOUT:
    case EHOSTUNREACH:
    case ENETUNREACH:
      return "rendezvous_failure";
    case ECONNRESET:
    case EPIPE:
      return "peer_lost";
    default:
      return {};
  }
}

}  // namespace llmb::parser
