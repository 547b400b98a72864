// What llmb_embed_files puts into a program is what stands on the disk.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/deploy/embedded_samples.h"

namespace llmb::embed_test {
namespace {

std::string file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(EmbeddedFiles, KeepNamesOrderAndEveryByte) {
  const auto files = embedded_samples();
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[0].name, "tests/deploy/awkward.bin");
  EXPECT_EQ(files[1].name, "tests/deploy/empty.bin");
  EXPECT_EQ(files[2].name, "CMakeLists.txt");
  for (const EmbeddedFile& file : files) {
    const std::string path = std::string(LLMB_SOURCE_DIR) + "/" + std::string(file.name);
    ASSERT_TRUE(std::filesystem::exists(path)) << path;
    EXPECT_EQ(file.bytes, file_bytes(path)) << path;
  }
  EXPECT_EQ(files[0].bytes.size(), 11U);
  EXPECT_TRUE(files[1].bytes.empty());
}

}  // namespace
}  // namespace llmb::embed_test
