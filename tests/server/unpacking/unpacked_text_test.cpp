#include "server/unpacking/unpacked_text.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>

#include "tests/server/unpacking/packed_bytes.h"
#include "tests/temporary_folder.h"

namespace llmb::unpacking {
namespace {

parser::FileDescriptor opened(const std::filesystem::path& path) {
  return parser::FileDescriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

std::string text_at(int fd, off_t offset, std::size_t length) {
  std::string bytes(length, '\0');
  bytes.resize(static_cast<std::size_t>(
      std::max<ssize_t>(0, pread(fd, bytes.data(), bytes.size(), offset))));
  return bytes;
}

class UnpackedText : public testing::Test {
 protected:
  ~UnpackedText() override { unsetenv("TMPDIR"); }
  TemporaryFolder folder_;
};

TEST_F(UnpackedText, TellsWhatAFileWasPackedWith) {
  const auto packing_of_bytes = [&](const std::string& bytes) {
    return packing_of_file(opened(folder_.write("file", bytes)).get()).value();
  };
  EXPECT_EQ(packing_of_bytes(gzipped("a")), Packing::gzip);
  EXPECT_EQ(packing_of_bytes(zstd_packed("a")), Packing::zstd);
  EXPECT_EQ(packing_of_bytes(xz_packed("a")), Packing::xz);
  EXPECT_EQ(packing_of_bytes(xz_packed("")), Packing::xz);
  for (int level = 1; level <= 9; ++level) {
    EXPECT_EQ(packing_of_bytes(bzip2_packed("a", level)), Packing::bzip2) << level;
    EXPECT_EQ(packing_of_bytes(bzip2_packed("", level)), Packing::bzip2) << level;
  }
  EXPECT_EQ(packing_of_bytes("step 1\n"), Packing::none);
  EXPECT_EQ(packing_of_bytes("\xfd"
                             "7zXZ"),
            Packing::none)
      << "shorter than its magic";
  EXPECT_EQ(packing_of_bytes("\xfd"
                             "7zXZ 5.4"),
            Packing::none);
  EXPECT_EQ(packing_of_bytes("BZh9 is where it begins\n"), Packing::none);
  EXPECT_EQ(packing_of_bytes("BZh91AY&S"), Packing::none) << "shorter than its magic";
  EXPECT_EQ(packing_of_bytes("BZh01AY&SY    "), Packing::none);
  EXPECT_EQ(packing_of_bytes("\x1f"), Packing::none);
  EXPECT_EQ(packing_of_bytes(""), Packing::none);
}

TEST(UnpackedNames, AreThoseOfWhatIsUnpacked) {
  for (const char* const name : {"a/log.out.gz", "log.out.zst", "log.out.xz", "a.bz2"}) {
    EXPECT_TRUE(is_unpacked_by_name(name)) << name;
  }
  for (const char* const name : {"log.out.lz4", "log.out.zip", "log.out.lzma", "log.out", "xz"}) {
    EXPECT_FALSE(is_unpacked_by_name(name)) << name;
  }
}

TEST_F(UnpackedText, IsAFileWithoutAName) {
  const auto file = opened(folder_.write("log.out.gz", gzipped("step 1\nstep 2\n")));
  ASSERT_EQ(lseek(file.get(), 3, SEEK_SET), 3) << "wherever it stands";
  std::filesystem::create_directory(folder_.path() / "tmp");
  setenv("TMPDIR", folder_.file("tmp").c_str(), 1);
  const auto text = unpack_file(file.get(), Packing::gzip);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(text_at(text->file.get(), 7, 100), "step 2\n");
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "tmp"));
}

TEST_F(UnpackedText, NeedsNoFolder) {
  setenv("TMPDIR", folder_.file("nosuch").c_str(), 1);
  for (const Packing packing : kPackings) {
    const auto file = opened(folder_.write("log.out.packed", packed_by(packing, "step 1\n")));
    const auto text = unpack_file(file.get(), packing);
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_EQ(text_at(text->file.get(), 0, 100), "step 1\n");
  }
}

TEST_F(UnpackedText, IsThereUpToWhereTheFileEndsOrIsDamaged) {
  const std::string packed = gzipped("step 1\nstep 2\n");
  const auto text_of = [&](const std::string& bytes) {
    return unpack_file(opened(folder_.write("log.out.gz", bytes)).get(), Packing::gzip);
  };
  const auto torn = text_of(gzipped("step 1\n") + packed.substr(0, packed.size() - 8));
  ASSERT_TRUE(torn) << torn.error().message;
  EXPECT_EQ(text_at(torn->file.get(), 0, 100), "step 1\nstep 1\nstep 2\n");
  EXPECT_EQ(torn->flaw,
            "the compressed file ends in the middle, after 21 bytes of text: it is still being "
            "written, or was cut off");
  const auto damaged = text_of(packed + "no gzip");
  ASSERT_TRUE(damaged) << damaged.error().message;
  EXPECT_EQ(text_at(damaged->file.get(), 0, 100), "step 1\nstep 2\n");
  EXPECT_EQ(damaged->flaw,
            "the compressed file is damaged behind 14 bytes of text: incorrect header check");
  EXPECT_EQ(text_of(packed)->flaw, "");
  EXPECT_FALSE(text_of(packed.substr(0, 8))) << "nothing of it unpacks";
  EXPECT_FALSE(text_of(gzipped("no whole line") + "no gzip"));
}

TEST_F(UnpackedText, EndsWhereItIsTold) {
  const auto file = opened(folder_.write("log.out.gz", gzipped(std::string(10'000'000, 'a'))));
  int blocks = 0;
  const auto text = unpack_file(file.get(), Packing::gzip, [&] { return ++blocks < 3; });
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message, "stopped while it was unpacked");
  EXPECT_EQ(blocks, 3);
}

}  // namespace
}  // namespace llmb::unpacking
