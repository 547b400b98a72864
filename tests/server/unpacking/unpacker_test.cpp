#include "server/unpacking/unpacker.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "parser/foundation/file_descriptor.h"
#include "tests/server/unpacking/packed_bytes.h"
#include "tests/temporary_folder.h"

namespace llmb::unpacking {
namespace {

struct Unpacked {
  std::string text;
  std::string error;
};

Unpacked unpack(const std::string& packed, Packing packing, std::size_t head_bytes = 0) {
  const TemporaryFolder folder;
  const auto path = folder.write("packed", packed.substr(head_bytes));
  const parser::FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  Unpacker unpacker(file.get(), packing, packed.substr(0, head_bytes));
  Unpacked unpacked;
  while (true) {
    const auto block = unpacker.next();
    if (!block) {
      unpacked.error = block.error().message;
      return unpacked;
    }
    if (block->empty()) return unpacked;
    unpacked.text += *block;
  }
}

// Some of it packs well, some does not; longer than what either side holds at once.
std::string long_text() {
  std::string text;
  std::uint32_t state = 1;
  for (int line = 0; line < 40'000; ++line) {
    state = state * 1'664'525U + 1'013'904'223U;
    text += "iteration " + std::to_string(line) + " loss " + std::to_string(state) + "\n";
  }
  return text + std::string(3'000'000, 'a');
}

class UnpackerOf : public testing::TestWithParam<Packing> {
 protected:
  static std::string packed(const std::string& text) {
    return GetParam() == Packing::gzip ? gzipped(text) : zstd_packed(text);
  }
};

TEST_P(UnpackerOf, GivesTheText) {
  for (const std::string& text : {std::string("step 1\n"), std::string(), long_text()}) {
    const Unpacked unpacked = unpack(packed(text), GetParam());
    EXPECT_EQ(unpacked.error, "");
    EXPECT_TRUE(unpacked.text == text);
  }
}

TEST_P(UnpackerOf, BeginsWithWhatWasReadBefore) {
  EXPECT_EQ(unpack(packed("step 1\n"), GetParam(), kMagicBytes).text, "step 1\n");
}

TEST_P(UnpackerOf, GivesTheTextsOfSeveralInARow) {
  const Unpacked unpacked =
      unpack(packed("step 1\n") + packed("") + packed("step 2\n"), GetParam());
  EXPECT_EQ(unpacked.error, "");
  EXPECT_EQ(unpacked.text, "step 1\nstep 2\n");
}

TEST_P(UnpackerOf, SaysThatAFileIsCutOffAndGivesWhatThereIs) {
  const std::string text = long_text();
  const std::string whole = packed(text);
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{5}, whole.size() / 2, whole.size() - 1}) {
    const Unpacked unpacked = unpack(whole.substr(0, bytes), GetParam());
    EXPECT_NE(unpacked.error.find("ends in the middle"), std::string::npos) << bytes;
    EXPECT_TRUE(text.starts_with(unpacked.text)) << bytes;
    if (bytes > 100'000) {
      EXPECT_GT(unpacked.text.size(), 100'000U);
    }
  }
}

TEST_P(UnpackerOf, SaysThatAFileIsDamaged) {
  std::string damaged = packed(long_text());
  for (std::size_t i = damaged.size() / 2; i < damaged.size() / 2 + 100; ++i) damaged[i] = 'x';
  EXPECT_NE(unpack(damaged, GetParam()).error.find("is damaged: "), std::string::npos);
  EXPECT_NE(unpack("no such file", GetParam()).error.find("is damaged: "), std::string::npos);
  EXPECT_NE(unpack(packed("a") + "what is this", GetParam()).error.find("is damaged: "),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, UnpackerOf, testing::Values(Packing::gzip, Packing::zstd),
                         [](const auto& info) {
                           return info.param == Packing::gzip ? "Gzip" : "Zstd";
                         });

// As tapes and dd leave them.
TEST(Unpacker, PassesOverZerosBehindAGzipFile) {
  for (const std::size_t zeros : {1, 10'240, 200'000}) {
    const std::string padding(zeros, '\0');
    EXPECT_EQ(unpack(gzipped("step 1\n") + padding, Packing::gzip).text, "step 1\n");
    EXPECT_EQ(unpack(gzipped("a") + padding + gzipped("b"), Packing::gzip).text, "ab");
  }
}

TEST(Unpacker, SaysThatAWindowIsTooLong) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 31);
  const std::string text(5'000, 'a');
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  ZSTD_inBuffer in = {text.data(), text.size(), 0};
  ZSTD_outBuffer out = {packed.data(), packed.size(), 0};
  // Its length is not told, so that the window stays as it was asked for.
  ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush);
  ZSTD_compressStream2(context, &out, &in, ZSTD_e_end);
  ZSTD_freeCCtx(context);
  packed.resize(out.pos);
  EXPECT_NE(unpack(packed, Packing::zstd).error.find("zstd --long"), std::string::npos);
}

TEST(Unpacker, SaysThatReadingFailed) {
  const parser::FileDescriptor folder(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  Unpacker unpacker(folder.get(), Packing::gzip);
  EXPECT_EQ(unpacker.next().error().message, "cannot be read: Is a directory");
}

}  // namespace
}  // namespace llmb::unpacking
