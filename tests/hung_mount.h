// HungMount: a FUSE mount whose server never answers, as a network mount does whose server is gone:
// every call below its folder waits. Needs /dev/fuse and the right to mount.
#pragma once

#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/mount.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>

namespace llmb {

class HungMount {
 public:
  // On a folder that is there. Where the machine does not let us, is_mounted() is false.
  explicit HungMount(std::string folder) : folder_(std::move(folder)) {
    device_ = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (device_ < 0) return;
    const std::string options =
        "fd=" + std::to_string(device_) + ",rootmode=40000,user_id=0,group_id=0";
    if (mount("none", folder_.c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str()) != 0) return;
    is_mounted_ = greet();
    if (!is_mounted_) umount2(folder_.c_str(), MNT_DETACH);
  }
  // Whoever waits gets an error.
  ~HungMount() {
    if (is_mounted_) umount2(folder_.c_str(), MNT_DETACH);
    if (device_ >= 0) close(device_);
  }
  HungMount(const HungMount&) = delete;
  HungMount& operator=(const HungMount&) = delete;

  bool is_mounted() const { return is_mounted_; }

 private:
  // The kernel's first question is answered, for before that it would not ask anything.
  bool greet() const {
    std::array<char, 65'536> request{};
    if (read(device_, request.data(), request.size()) <
        static_cast<ssize_t>(sizeof(fuse_in_header)))
      return false;
    fuse_in_header asked{};
    std::memcpy(&asked, request.data(), sizeof asked);
    struct {
      fuse_out_header header;
      fuse_init_out init;
    } answer{};
    answer.header.len = sizeof answer;
    answer.header.unique = asked.unique;
    answer.init.major = FUSE_KERNEL_VERSION;
    answer.init.minor = 31;
    answer.init.max_write = 4096;
    return write(device_, &answer, sizeof answer) == static_cast<ssize_t>(sizeof answer);
  }

  const std::string folder_;
  int device_ = -1;
  bool is_mounted_ = false;
};

}  // namespace llmb
