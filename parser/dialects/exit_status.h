// What the number in a line says of an end: the exit status of a process, as launchers tell it, or
// the error number of a system call, as exceptions carry it. The classes follow from the number,
// whoever prints it.
#pragma once

#include <string_view>

namespace llmb::parser {

// `rest`: what follows "return code = ", "exitcode: " and the like: "-9", "137". A negative number
// and one above 128 are signals. Empty for 0, for what is no number, and for SIGTERM, with which
// launchers end the processes that did nothing wrong.
std::string_view cause_of_exit_status(std::string_view rest);

// `rest`: what follows "on signal ": "9 (Killed)".
std::string_view cause_of_signal(std::string_view rest);

// `rest`: what follows "Signals.SIG" of Python's names: "HUP death signal, shutting down workers".
std::string_view cause_of_signal_name(std::string_view rest);

// `rest`: what follows "CUDA_ERROR_": "NO_DEVICE: no CUDA-capable device is detected".
std::string_view cause_of_cuda_error(std::string_view rest);

// `rest`: what follows "CUDA error: ": CUDA's own sentence, "out of memory". HIP has the same ones.
std::string_view cause_of_cuda_message(std::string_view rest);

// `line`: of NCCL, with the same quoted behind "Cuda failure 719 " or "CUDA error 401 ". Where CUDA
// refused a call, that is NCCL's own failure. Empty where the line tells of no such error.
std::string_view cause_of_quoted_cuda_message(std::string_view line);

// `rest`: what follows "nvml error: ", in the words of nvmlErrorString(), whatever their case.
// A container that the driver does not let in fails by it.
std::string_view cause_of_nvml_message(std::string_view rest);

// `rest`: what follows "non-zero exit status ": "137." Only for what tells of a signal.
std::string_view cause_of_shell_status(std::string_view rest);

// `rest`: what follows "[Errno " or "errno: ": "28] No space left on device". Linux's numbers;
// empty for those that say nothing of the cause.
std::string_view cause_of_errno(std::string_view rest);

}  // namespace llmb::parser
