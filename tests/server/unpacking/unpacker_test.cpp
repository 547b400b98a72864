#include "server/unpacking/unpacker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
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
  std::string flaw;
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
      unpacked.flaw = unpacker.flaw();
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
  static std::string packed(const std::string& text) { return packed_by(GetParam(), text); }
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
    EXPECT_EQ(unpacked.flaw.empty(), unpacked.text.empty()) << bytes;
    if (bytes > 100'000) {
      EXPECT_GT(unpacked.text.size(), 100'000U);
      EXPECT_NE(unpacked.flaw.find(fmt::format("after {} bytes of text", unpacked.text.size())),
                std::string::npos)
          << unpacked.flaw;
    }
  }
}

TEST_P(UnpackerOf, GivesWhatIsThereOfTheSecondOfTwo) {
  const std::string text = long_text();
  const std::string second = packed(text);
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{5}, second.size() / 2}) {
    const Unpacked unpacked = unpack(packed("step 1\n") + second.substr(0, bytes), GetParam());
    EXPECT_NE(unpacked.flaw.find("ends in the middle"), std::string::npos) << bytes;
    EXPECT_TRUE(("step 1\n" + text).starts_with(unpacked.text)) << bytes;
    EXPECT_EQ(unpacked.text.size() > 100'000, bytes > 5);
  }
}

TEST_P(UnpackerOf, SaysThatAFileIsDamaged) {
  std::string damaged = packed(long_text());
  for (std::size_t i = damaged.size() / 2; i < damaged.size() / 2 + 100; ++i) damaged[i] = 'x';
  EXPECT_NE(unpack(damaged, GetParam()).error.find("is damaged: "), std::string::npos);
  EXPECT_NE(unpack(damaged, GetParam()).flaw.find("is damaged behind "), std::string::npos);
  EXPECT_TRUE(unpack("no such file", GetParam()).flaw.empty());
  EXPECT_TRUE(unpack(packed("a") + "what is this", GetParam()).flaw.empty()) << "no whole line";
  EXPECT_NE(unpack(packed("a\n") + "what is this", GetParam()).flaw.find("behind 2 bytes"),
            std::string::npos);
  EXPECT_NE(unpack("no such file", GetParam()).error.find("is damaged: "), std::string::npos);
  EXPECT_NE(unpack(packed("a") + "what is this", GetParam()).error.find("is damaged: "),
            std::string::npos);
}

std::string name_of(const testing::TestParamInfo<Packing>& info) {
  constexpr std::array kNames = {"None", "Gzip", "Zstd", "Xz", "Bzip2"};
  return kNames.at(static_cast<std::size_t>(info.param));
}
INSTANTIATE_TEST_SUITE_P(All, UnpackerOf, testing::ValuesIn(kPackings), name_of);

// As tapes and dd leave them.
TEST(Unpacker, PassesOverZerosBehindAFile) {
  for (const Packing packing : {Packing::gzip, Packing::bzip2, Packing::xz}) {
    const auto packed = [&](const std::string& text) { return packed_by(packing, text); };
    for (const std::size_t zeros : {4, 10'240, 200'000}) {
      const std::string padding(zeros, '\0');
      EXPECT_EQ(unpack(packed("step 1\n") + padding, packing).text, "step 1\n");
      EXPECT_EQ(unpack(packed("step 1\n") + padding, packing).error, "");
      EXPECT_EQ(unpack(packed("a") + padding + packed("b"), packing).text, "ab");
      EXPECT_EQ(unpack(packed("a") + padding + packed("b"), packing).error, "");
      EXPECT_NE(unpack(packed("a") + padding + "what is this", packing).error.find("is damaged: "),
                std::string::npos);
    }
    const bool is_of_any_length = packing != Packing::xz;
    for (const std::size_t zeros : {1, 2, 10'242, 200'003}) {
      const std::string padding(zeros, '\0');
      for (const std::string& behind : {std::string(), packed("b")}) {
        const Unpacked unpacked = unpack(packed("a") + padding + behind, packing);
        EXPECT_EQ(unpacked.error.empty(), is_of_any_length) << unpacked.error;
        EXPECT_EQ(unpacked.text, is_of_any_length && !behind.empty() ? "ab" : "a");
      }
    }
  }
  EXPECT_EQ(unpack(xz_packed("a") + std::string(6, '\0'), Packing::xz).error,
            "the compressed file is damaged: 6 zeros stand behind it, not a multiple of 4");
}

// The call that finds the damage may have made some text before.
TEST(Unpacker, GivesWhatWasMadeBeforeTheDamage) {
  std::string wrong_check = gzipped("step 1\nstep 2\n");
  ++wrong_check[wrong_check.size() - 8];
  const Unpacked unpacked = unpack(wrong_check, Packing::gzip);
  EXPECT_EQ(unpacked.text, "step 1\nstep 2\n");
  EXPECT_EQ(unpacked.flaw,
            "the compressed file is damaged behind 14 bytes of text: incorrect data check");
}

// Of zstd a check is made only where the file has one, and zstd's own does.
TEST(Unpacker, GivesNoOtherText) {
  const std::string text = "iteration 1 loss 2.5\niteration 2 loss 2.25\n";
  for (const Packing packing : {Packing::gzip, Packing::bzip2, Packing::xz}) {
    const std::string whole = packed_by(packing, text);
    for (std::size_t i = 0; i < whole.size() * 8; ++i) {
      std::string damaged = whole;
      damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ (1 << (i % 8)));
      const Unpacked unpacked = unpack(damaged, packing);
      EXPECT_TRUE(!unpacked.error.empty() || unpacked.text == text) << i;
      EXPECT_FALSE(packing == Packing::xz && unpacked.error.empty()) << i;
    }
  }
}

TEST(Unpacker, MakesEveryCheckOfXz) {
  for (const lzma_check check :
       {LZMA_CHECK_NONE, LZMA_CHECK_CRC32, LZMA_CHECK_CRC64, LZMA_CHECK_SHA256}) {
    const std::string packed = xz_packed("step 1\n", check);
    EXPECT_EQ(unpack(packed, Packing::xz).text, "step 1\n");
    EXPECT_EQ(unpack(packed, Packing::xz).error, "");
    // Between the blocks and what ends the file: an index of 8 bytes with its CRC, and a footer.
    constexpr std::size_t kBytesBehind = 8 + 12;
    if (check == LZMA_CHECK_NONE) continue;
    std::string damaged = packed;
    ++damaged[packed.size() - kBytesBehind - 1];
    EXPECT_NE(unpack(damaged, Packing::xz).error.find("is damaged: "), std::string::npos);
  }
}

// Of the first block of a short text: length and flags, two sizes, then the filter: its id, how
// much of it follows, the size of its dictionary. The header has a check of its own.
std::string with_header_byte(std::string packed, std::size_t offset, char byte) {
  constexpr std::size_t kHeader = 12;
  const std::size_t checked = static_cast<unsigned char>(packed[kHeader]) * std::size_t{4};
  packed[kHeader + offset] = byte;
  const std::uint32_t crc =
      lzma_crc32(reinterpret_cast<const std::uint8_t*>(packed.data()) + kHeader, checked, 0);
  for (unsigned i = 0; i < 4; ++i) {
    packed[kHeader + checked + i] = static_cast<char>(crc >> (8 * i));
  }
  return packed;
}

TEST(Unpacker, SaysThatADictionaryIsTooLong) {
  const std::string packed = xz_packed("step 1\n");
  constexpr std::size_t kDictionarySize = 6;
  constexpr char k192Mib = 31;
  EXPECT_EQ(unpack(with_header_byte(packed, kDictionarySize, k192Mib), Packing::xz).text,
            "step 1\n");
  for (const char size : {'\x20', '\x24', '\x28'}) {  // 256 MiB, 1 GiB, all that 32 bits can say
    const Unpacked unpacked = unpack(with_header_byte(packed, kDictionarySize, size), Packing::xz);
    EXPECT_NE(unpacked.error.find("more than 256 MiB"), std::string::npos) << unpacked.error;
    EXPECT_EQ(unpacked.text, "");
    EXPECT_EQ(unpacked.flaw, "");
  }
  const std::string refused = with_header_byte(packed, kDictionarySize, '\x28');
  EXPECT_EQ(unpack(packed + refused, Packing::xz).flaw, "") << "it may be whole";
}

TEST(Unpacker, SaysThatAFilterIsNotKnown) {
  constexpr std::size_t kFilter = 4;
  const Unpacked unpacked =
      unpack(with_header_byte(xz_packed("step 1\n"), kFilter, '\x60'), Packing::xz);
  EXPECT_NE(unpacked.error.find("a filter or a check that is not known"), std::string::npos)
      << unpacked.error;
}

TEST(Unpacker, UnpacksEveryLevelOfBzip2) {
  const std::string text = long_text();
  for (const int level : {1, 5, 9}) {
    EXPECT_TRUE(unpack(bzip2_packed(text, level), Packing::bzip2).text == text) << level;
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
