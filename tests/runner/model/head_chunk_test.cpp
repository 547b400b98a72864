#include "runner/model/head_chunk.h"

#include <gtest/gtest.h>

namespace llmb::runner {
namespace {

constexpr std::int64_t kBf16 = 2;

// The vocabularies of Llama 3.1, Nemotron-4 and Llama 4 Maverick, on one tensor-parallel rank and
// on several.
TEST(HeadChunk, HoldsAsManyRowsAsHalfAGibibyteHas) {
  EXPECT_EQ(head_chunk_rows(8192, 128256, kBf16), 2048);
  EXPECT_EQ(head_chunk_rows(8192, 128256 / 2, kBf16), 4096);
  EXPECT_EQ(head_chunk_rows(8192, 128256 / 4, kBf16), 8192) << "all of them: one chunk";
  EXPECT_EQ(head_chunk_rows(4096, 256000, kBf16), 1024);
  EXPECT_EQ(head_chunk_rows(8192, 202048, kBf16), 1280) << "7 chunks, the last of 512";
  EXPECT_EQ(head_chunk_rows(8192, 128256, 4), 1024);
}

TEST(HeadChunk, KeepsProductsLargeWhereAVocabularyIsHuge) {
  EXPECT_EQ(head_chunk_rows(1024, std::int64_t{1} << 20, kBf16), 1024);
  EXPECT_EQ(head_chunk_rows(5000, std::int64_t{1} << 20, kBf16), 1024);
}

TEST(HeadChunk, CutsEvenlyAndCoversAllRows) {
  for (std::int64_t rows = 1; rows < 40'000; rows += 997) {
    for (const std::int64_t columns : {24, 32'064, 100'003, 256'000}) {
      const std::int64_t chunk = head_chunk_rows(rows, columns, kBf16);
      EXPECT_GE(chunk, 1);
      EXPECT_LE(chunk, rows);
      if (chunk == rows) continue;
      EXPECT_EQ(chunk % 128, 0);
      EXPECT_GE(chunk, 512) << "no less than half of what is allowed, as cuts are even";
      EXPECT_TRUE(chunk == 1024 || chunk * columns * kBf16 <= std::int64_t{512} << 20);
    }
  }
}

}  // namespace
}  // namespace llmb::runner
