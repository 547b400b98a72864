#include "parser/dialects/exit_status.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <optional>
#include <string>

#include "parser/foundation/text.h"

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

struct Error {
  int number = 0;
  std::string_view cause;
};

constexpr auto kErrors = std::to_array<Error>({
    {ENOENT, "tokenizer_or_data_missing"},
    {ENOTDIR, "tokenizer_or_data_missing"},
    {EISDIR, "tokenizer_or_data_missing"},
    {ENODATA, "file_system_error"},
    {ENOLCK, "file_system_error"},
    {EBADMSG, "file_system_error"},
    {EBUSY, "file_system_error"},
    {EFBIG, "file_system_error"},
    {ELOOP, "file_system_error"},
    {ENAMETOOLONG, "file_system_error"},
    {EOPNOTSUPP, "file_system_error"},
    {EXDEV, "file_system_error"},
    {ECOMM, "file_system_error"},
    {EPROTO, "file_system_error"},
    {EPERM, "file_system_error"},
    {EACCES, "file_system_error"},
    {EIO, "file_system_error"},
    {EROFS, "file_system_error"},
    {ENXIO, "file_system_error"},
    {ENODEV, "file_system_error"},
    {ESTALE, "file_system_error"},
    {EREMOTEIO, "file_system_error"},
    {ENOTCONN, "file_system_error"},
    {ESHUTDOWN, "file_system_error"},
    {EUCLEAN, "file_system_error"},
    {ENOSPC, "disk_full_or_quota"},
    {EDQUOT, "disk_full_or_quota"},
    {EMFILE, "file_limit"},
    {ENFILE, "file_limit"},
    {EAGAIN, "file_limit"},
    {ENOMEM, "host_oom_kill"},
    {EADDRINUSE, "rendezvous_failure"},
    {ECONNREFUSED, "rendezvous_failure"},
    {ETIMEDOUT, "rendezvous_failure"},
    {EHOSTUNREACH, "rendezvous_failure"},
    {ENETUNREACH, "rendezvous_failure"},
    {ENETDOWN, "rendezvous_failure"},
    {EADDRNOTAVAIL, "rendezvous_failure"},
    {ECONNABORTED, "peer_lost"},
    {ECONNRESET, "peer_lost"},
    {EPIPE, "peer_lost"},
});

struct NamedError {
  std::string_view beginning;
  std::string_view cause;
};

constexpr auto kCudaErrors = std::to_array<NamedError>({
    {"OUT_OF_MEMORY", "cuda_oom"},
    {"ILLEGAL_ADDRESS", "illegal_memory_access"},
    {"MISALIGNED_ADDRESS", "illegal_memory_access"},
    {"INVALID_ADDRESS_SPACE", "illegal_memory_access"},
    {"ASSERT", "device_side_assert"},
    {"ECC_UNCORRECTABLE", "gpu_hardware_error"},
    {"NVLINK_UNCORRECTABLE", "gpu_hardware_error"},
    {"HARDWARE_STACK_ERROR", "gpu_hardware_error"},
    {"NO_DEVICE", "gpu_unavailable"},
    {"INVALID_DEVICE", "gpu_unavailable"},
    {"DEVICE_UNAVAILABLE", "gpu_unavailable"},
    {"DEVICES_UNAVAILABLE", "gpu_unavailable"},
    {"NOT_INITIALIZED", "gpu_unavailable"},
    {"SYSTEM_", "gpu_unavailable"},
    {"COMPAT_NOT_SUPPORTED_ON_DEVICE", "gpu_unavailable"},
    {"INSUFFICIENT_DRIVER", "gpu_unavailable"},
    {"UNSUPPORTED_PTX_VERSION", "gpu_unavailable"},
});

// In the words of cudaGetErrorString().
constexpr auto kCudaMessages = std::to_array<NamedError>({
    {"out of memory", "cuda_oom"},
    {"misaligned address", "illegal_memory_access"},
    {"an illegal memory access", "illegal_memory_access"},
    {"operation not supported on global/shared", "illegal_memory_access"},
    {"invalid program counter", "illegal_memory_access"},
    {"device-side assert", "device_side_assert"},
    {"uncorrectable", "gpu_hardware_error"},
    {"hardware stack error", "gpu_hardware_error"},
    {"no CUDA-capable device", "gpu_unavailable"},
    {"no ROCm-capable device", "gpu_unavailable"},
    {"invalid device ordinal", "gpu_unavailable"},
    {"initialization error", "gpu_unavailable"},
    {"system not yet initialized", "gpu_unavailable"},
    {"system has unsupported", "gpu_unavailable"},
    {"forward compatibility", "gpu_unavailable"},
    {"CUDA driver version", "gpu_unavailable"},
    {"all CUDA-capable devices", "gpu_unavailable"},
    {"CUDA-capable device(s)", "gpu_unavailable"},
});

std::string_view cause_of_signal_number(int signal) {
  switch (signal) {
    case SIGSEGV:
    case SIGILL:
    case SIGFPE:
    case SIGBUS:
      return "segmentation_fault";
    case SIGKILL:
      return "task_killed";
    case SIGINT:
      return "interrupted";
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
  if (*status < -kSignalMax) return "child_failed";
  if (*status < 0) return cause_of_signal_number(-*status);
  const bool is_signal = *status > kSignalBase && *status <= kSignalBase + kSignalMax;
  return is_signal ? cause_of_signal_number(*status - kSignalBase) : "child_failed";
}

std::string_view cause_of_signal(std::string_view rest) {
  const std::optional<int> signal = leading_integer(rest);
  return signal && *signal > 0 ? cause_of_signal_number(*signal) : std::string_view();
}

std::string_view cause_of_signal_name(std::string_view rest) {
  if (rest.starts_with("HUP ")) return "interrupted";
  return rest.starts_with("TERM ") ? "task_killed" : std::string_view();
}

std::string_view cause_of_cuda_error(std::string_view rest) {
  const auto* const found =
      std::find_if(kCudaErrors.begin(), kCudaErrors.end(),
                   [&](const NamedError& one) { return rest.starts_with(one.beginning); });
  return found == kCudaErrors.end() ? "cuda_error" : found->cause;
}

std::string_view cause_of_cuda_message(std::string_view rest) {
  const auto* const found =
      std::find_if(kCudaMessages.begin(), kCudaMessages.end(),
                   [&](const NamedError& one) { return rest.starts_with(one.beginning); });
  return found == kCudaMessages.end() ? "cuda_error" : found->cause;
}

std::string_view cause_of_quoted_cuda_message(std::string_view line) {
  // What a device tells once a kernel has failed on it, whoever calls next.
  constexpr auto kFaults = std::to_array<std::string_view>(
      {"unspecified launch failure", "unknown error", "the launch timed out"});
  for (const std::string_view head : {"Cuda failure ", "CUDA error ", "CUDA failure "}) {
    const std::size_t at = line.find(head);
    const std::size_t quote = at == std::string_view::npos ? at : line.find('\'', at);
    if (quote == std::string_view::npos) continue;
    const std::string_view message = line.substr(quote + 1);
    const bool is_fault = std::any_of(kFaults.begin(), kFaults.end(), [&](std::string_view one) {
      return message.starts_with(one);
    });
    const std::string_view cause = cause_of_cuda_message(message);
    // No call of NCCL's is to blame for it: the fabric manager is not there yet.
    const bool is_of_node = message.starts_with("system not yet initialized");
    const bool is_refusal = cause == "cuda_error" || cause == "gpu_unavailable";
    return is_refusal && !is_fault && !is_of_node ? "nccl_error" : cause;
  }
  return {};
}

std::string_view cause_of_nvml_message(std::string_view rest) {
  constexpr auto kFaults = std::to_array<std::string_view>(
      {"gpu is lost", "reset required", "corrupted inforom", "insufficient external power"});
  const std::string text = lower(rest.substr(0, 40));
  if (text.starts_with("driver/library version mismatch")) return "gpu_unavailable";
  const bool is_fault = std::any_of(kFaults.begin(), kFaults.end(), [&](std::string_view words) {
    return text.starts_with(words);
  });
  return is_fault ? "gpu_hardware_error" : "container_error";
}

std::string_view cause_of_shell_status(std::string_view rest) {
  const std::optional<int> status = leading_integer(rest);
  return status && *status > kSignalBase ? cause_of_exit_status(rest) : std::string_view();
}

std::string_view cause_of_errno(std::string_view rest) {
  const std::optional<int> number = leading_integer(rest);
  if (!number) return {};
  const auto* const found = std::find_if(kErrors.begin(), kErrors.end(),
                                         [&](const Error& one) { return one.number == *number; });
  return found == kErrors.end() ? std::string_view() : found->cause;
}

}  // namespace llmb::parser
