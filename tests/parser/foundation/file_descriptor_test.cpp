#include "parser/foundation/file_descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <utility>

namespace llmb::parser {
namespace {

bool is_open(int fd) {
  return fcntl(fd, F_GETFD) >= 0;
}

int open_null() {
  return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

TEST(FileDescriptor, ClosesAtItsEnd) {
  int number = -1;
  {
    const FileDescriptor file(open_null());
    number = file.get();
    ASSERT_TRUE(file.is_open());
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(FileDescriptor, MovesItsDescriptor) {
  FileDescriptor first(open_null());
  const int number = first.get();
  FileDescriptor second(std::move(first));
  EXPECT_FALSE(first.is_open());
  EXPECT_EQ(second.get(), number);
  FileDescriptor third(open_null());
  const int replaced = third.get();
  third = std::move(second);
  EXPECT_EQ(third.get(), number);
  EXPECT_FALSE(is_open(replaced));
  EXPECT_TRUE(is_open(number));
}

TEST(FileDescriptor, ReleasesWithoutClosing) {
  FileDescriptor file(open_null());
  const int number = file.release();
  EXPECT_FALSE(file.is_open());
  file.close();
  EXPECT_TRUE(is_open(number));
  ::close(number);
}

}  // namespace
}  // namespace llmb::parser
