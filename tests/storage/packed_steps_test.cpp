// The bytes of packed steps, which databases keep.
#include "storage/packed_steps.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "parser/foundation/hex.h"
#include "storage/packed_reals.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

using Reals = std::vector<double>;
constexpr std::size_t kMemoryMax = 1U << 20U;

std::string packed(const Reals& values) {
  PackWriter writer;
  pack_reals(writer, values);
  return writer.take();
}

Reals unpacked(const std::string& bytes, std::size_t count) {
  PackReader reader(bytes, kMemoryMax);
  Reals values = unpack_reals(reader, "x", count);
  EXPECT_EQ(reader.left(), 0U);
  return values;
}

std::vector<std::uint64_t> bits_of(const Reals& values) {
  std::vector<std::uint64_t> bits;
  for (const double value : values) bits.push_back(std::bit_cast<std::uint64_t>(value));
  return bits;
}

TEST(PackedReals, ComeBackToTheBit) {
  std::mt19937_64 random(1);
  using Limits = std::numeric_limits<double>;
  const Reals awkward = {0.0,           -0.0,          Limits::infinity(),   -Limits::infinity(),
                         Limits::min(), Limits::max(), Limits::denorm_min(), Limits::quiet_NaN(),
                         1e22,          1e-22,         9007199254740993.0,   1e15 + 0.5};
  for (int round = 0; round < 20'000; ++round) {
    Reals values;
    for (std::uint64_t i = 0, count = random() % 6; i < count; ++i) {
      const std::uint64_t any = random();
      const double decimal = std::strtod(
          (std::to_string(any % 1'000'000) + "e-" + std::to_string(random() % 24)).c_str(),
          nullptr);
      const std::uint64_t kind = random() % (round % 2 == 0 ? 4 : 2);
      values.push_back(kind == 0   ? decimal
                       : kind == 1 ? static_cast<double>(static_cast<float>(decimal))
                       : kind == 2 ? std::bit_cast<double>(any)
                                   : awkward[any % awkward.size()]);
    }
    ASSERT_EQ(bits_of(unpacked(packed(values), values.size())), bits_of(values));
  }
}

TEST(PackedReals, TakeFewBytesForWhatLogsPrint) {
  Reals times;
  for (int i = 0; i < 100; ++i)
    times.push_back(std::strtod(("9.6" + std::to_string(30 + i % 9)).c_str(), nullptr));
  EXPECT_LT(packed(times).size(), 2 + 3 + 100);
  const Reals singles = {21.367358684539795, 11.026606559753418};
  EXPECT_EQ(packed({11.026606559753418, 0.10000000149011612}).size(), 1 + 2 * 4U);
  EXPECT_EQ(packed({singles[0], M_PI}).size(), 1 + 2 * 8U);
}

TEST(PackedReals, RefuseWhatNobodyPacked) {
  for (const std::string& bytes :
       {std::string(), std::string("\3", 1), std::string("\2\27", 2), std::string("\0\1", 2)}) {
    PackReader reader(bytes, kMemoryMax);
    EXPECT_THROW(unpack_reals(reader, "x", 1), BadField);
  }
}

std::vector<parser::StepSample> three_steps() {
  std::vector<parser::StepSample> steps;
  for (std::int64_t i = 0; i < 3; ++i) {
    steps.push_back(make_step(34 + i, 9.125 + static_cast<double>(i) / 8, 1));
    steps.back().loss = 10.5;
    steps.back().consumed_samples = 512 * i;
    steps.back().logged_at = "2026-11-23T10:00:0" + std::to_string(i);
  }
  steps[1].extra_fields = {{"val_loss", 2.5}};
  return steps;
}

std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(parser::hex_value(hex[i]) * 16 + parser::hex_value(hex[i + 1]));
  }
  return bytes;
}

constexpr std::string_view kPackedHex =
    "0315010202440202020203ca8e01fa01fa010001000000000000254000000000020080088008000000000000"
    "000213323032362d31312d32335431303a30303a303013323032362d31312d32335431303a30303a30311332"
    "3032362d31312d32335431303a30303a30320001fca9f1d24d62403f029035c801c801010001000876616c5f"
    "6c6f7373000000000000044000";

// Databases hold bytes like these for years: fields may be added behind those of now, and nothing
// else of the form may change without another table for it.
TEST(PackedSteps, OfThisVersionAreReadForEver) {
  const std::string bytes = bytes_of(kPackedHex);
  PackReader reader(bytes, kMemoryMax);
  EXPECT_EQ(unpack_steps(reader), three_steps());
  EXPECT_EQ(reader.left(), 0U);
}

TEST(PackedSteps, OfMoreFieldsThanAreKnownAreRefused) {
  PackWriter writer;
  pack_steps(writer, three_steps());
  std::string bytes = writer.take();
  ++bytes.at(1);
  PackReader reader(bytes, kMemoryMax);
  EXPECT_THROW(unpack_steps(reader), BadField);
}

}  // namespace
}  // namespace llmb::storage
