// Runs a program as a kernel would that lacks the system calls numbered above a given one: each of
// them fails with ENOSYS, in the program and in all that it starts. Calls are numbered in the order
// in which Linux got them, from 1.0 to 4.18 on x86-64, from 3.7 on aarch64.
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace {

bool deny_calls_above(std::uint32_t last) {
  const auto loads = [](std::size_t offset) {
    return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
  };
  std::array<sock_filter, 4> filter = {
      loads(offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, last, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "Usage: old_kernel LAST-SYSTEM-CALL PROGRAM ARGUMENT…\n");
    return 2;
  }
  const std::string_view number = argv[1];
  std::uint32_t last = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), last);
  if (read.ec != std::errc() || read.ptr != number.data() + number.size()) {
    fmt::print(stderr, "old_kernel: '{}' is no number of a system call\n", number);
    return 2;
  }
  if (!deny_calls_above(last)) {
    fmt::print(stderr, "old_kernel: no filter of system calls here: {}\n", std::strerror(errno));
    return 77;
  }
  execvp(argv[2], argv + 2);
  fmt::print(stderr, "old_kernel: cannot start {}: {}\n", argv[2], std::strerror(errno));
  return 127;
}
