// Matrix products of a device, or of the double, against products in double precision: every type,
// layout and stride, what is added to, and plans.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "runner/cuda/device_error.h"
#include "runner/cuda/gemm.h"
#include "runner/cuda/memory.h"
#include "runner/cuda/stream.h"
#include "runner/data/counter_random.h"
#include "runner/kernels/mx_scales.h"
#include "tests/runner/cuda/device_setup.h"

namespace llmb::runner::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class GemmTest : public testing::OnDevice {
 protected:
  std::uint64_t next_key_ = 1;
};

// A matrix of random numbers as its type keeps them, on the host and on the device.
struct Values {
  NumberType type;
  std::int64_t rows, cols, stride;
  std::vector<float> numbers;  // rows * stride
  DeviceMemory memory;
};

template <typename T>
std::vector<std::byte> encoded(std::vector<float>& numbers) {
  std::vector<std::byte> bytes(numbers.size() * sizeof(T));
  auto* to = reinterpret_cast<T*>(bytes.data());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    to[i] = kernels::from_float<T>(numbers[i]);
    numbers[i] = kernels::to_float(to[i]);
  }
  return bytes;
}

std::vector<std::byte> encoded(NumberType type, std::vector<float>& numbers) {
  switch (type) {
    case NumberType::bf16:
      return encoded<kernels::Bf16>(numbers);
    case NumberType::fp8_e4m3:
      return encoded<kernels::Fp8E4m3>(numbers);
    case NumberType::fp8_e5m2:
      return encoded<kernels::Fp8E5m2>(numbers);
    default:
      return encoded<float>(numbers);
  }
}

Values values(NumberType type, std::int64_t rows, std::int64_t cols, std::int64_t stride,
              std::uint64_t key, Stream stream) {
  Values result{type, rows, cols, stride, {}, {}};
  result.numbers.resize(static_cast<std::size_t>(rows * stride));
  for (std::size_t i = 0; i < result.numbers.size(); ++i) {
    result.numbers[i] = static_cast<float>(normal_at(key, i));
  }
  const std::vector<std::byte> bytes = encoded(type, result.numbers);
  result.memory = DeviceMemory(bytes.size());
  copy_async(result.memory.data(), bytes.data(), bytes.size(), CopyDirection::to_device, stream);
  synchronize(stream);
  return result;
}

std::vector<float> numbers_of(const Values& values, Stream stream) {
  std::vector<std::byte> bytes(values.memory.bytes());
  copy_async(bytes.data(), values.memory.data(), bytes.size(), CopyDirection::to_host, stream);
  synchronize(stream);
  std::vector<float> numbers(values.numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = values.type == NumberType::bf16
                     ? kernels::to_float(reinterpret_cast<const kernels::Bf16*>(bytes.data())[i])
                     : reinterpret_cast<const float*>(bytes.data())[i];
  }
  return numbers;
}

struct Case {
  std::int64_t m, n, k;
  NumberType type_a, type_b, type_d;
  bool a_transposed, b_transposed;
  float alpha = 1;
  float beta = 0;
  std::int64_t padding = 0;
};

// One product, and the largest difference from that in double precision, relative to the root of
// the mean square of what an element adds up.
double worst_difference(const Case& test, std::uint64_t key, float a_scale = 1, float b_scale = 1) {
  const OwnedStream stream;
  const auto matrix = [&](NumberType type, std::int64_t rows, std::int64_t cols, bool transposed,
                          std::uint64_t offset) {
    if (transposed) std::swap(rows, cols);
    return values(type, rows, cols, cols + test.padding, key + offset, stream);
  };
  const Values a = matrix(test.type_a, test.m, test.k, test.a_transposed, 1);
  const Values b = matrix(test.type_b, test.k, test.n, test.b_transposed, 2);
  const Values d = matrix(test.type_d, test.m, test.n, false, 3);
  constexpr std::size_t kScaleStride = 4;  // scales begin at multiples of 16 bytes
  std::vector<float> scales(2 * kScaleStride);
  scales[0] = a_scale;
  scales[kScaleStride] = b_scale;
  const DeviceMemory device_scales(scales.size() * sizeof(float));
  copy_async(device_scales.data(), scales.data(), device_scales.bytes(), CopyDirection::to_device,
             stream);
  const auto* scale = reinterpret_cast<const float*>(device_scales.data());
  const bool scaled = a_scale != 1 || b_scale != 1;
  GemmEngine engine;
  engine.run({.m = test.m,
              .n = test.n,
              .k = test.k,
              .a = {a.memory.data(), a.type, a.stride, test.a_transposed, scaled ? scale : nullptr},
              .b = {b.memory.data(), b.type, b.stride, test.b_transposed,
                    scaled ? scale + kScaleStride : nullptr},
              .d = d.memory.data(),
              .d_type = d.type,
              .d_stride = d.stride,
              .alpha = test.alpha,
              .beta = test.beta},
             stream);
  const std::vector<float> result = numbers_of(d, stream);
  double worst = 0;
  for (std::int64_t i = 0; i < test.m; ++i) {
    for (std::int64_t j = 0; j < test.n; ++j) {
      double sum = 0;
      for (std::int64_t p = 0; p < test.k; ++p) {
        const std::int64_t at_a = test.a_transposed ? p * a.stride + i : i * a.stride + p;
        const std::int64_t at_b = test.b_transposed ? j * b.stride + p : p * b.stride + j;
        sum += static_cast<double>(a.numbers[static_cast<std::size_t>(at_a)]) *
               static_cast<double>(b.numbers[static_cast<std::size_t>(at_b)]);
      }
      const auto at = static_cast<std::size_t>(i * d.stride + j);
      const double scales_product = static_cast<double>(a_scale) * static_cast<double>(b_scale);
      const double expected = static_cast<double>(test.alpha) * scales_product * sum +
                              static_cast<double>(test.beta) * static_cast<double>(d.numbers[at]);
      const double unit = scales_product * std::sqrt(static_cast<double>(test.k) + 1);
      worst = std::max(worst, std::fabs(static_cast<double>(result[at]) - expected) / unit);
    }
    for (std::int64_t j = test.n; j < d.stride; ++j) {
      const auto at = static_cast<std::size_t>(i * d.stride + j);
      EXPECT_EQ(result[at], d.numbers[at]) << "written between the rows";
    }
  }
  return worst;
}

constexpr NumberType kBf16 = NumberType::bf16;
constexpr NumberType kFloat32 = NumberType::float32;
// bf16 keeps 8 bits: half a unit in the last place of numbers of a few standard deviations.
constexpr double kBf16Tolerance = 2e-2;
// Tensor cores cut off what lies below a partial sum's last bit, at every step of 16 products.
constexpr double kFloatTolerance = 1e-5;
// What tensor cores make of FP8 before they add in fp32.
constexpr double kFp8Tolerance = 2e-3;

TEST_F(GemmTest, MultipliesInEveryLayout) {
  for (const bool a_transposed : {false, true}) {
    for (const bool b_transposed : {false, true}) {
      for (const std::int64_t padding : {0, 8}) {
        const Case bf16{48, 40, 72, kBf16, kBf16, kBf16, a_transposed, b_transposed, 1, 0, padding};
        EXPECT_LT(worst_difference(bf16, 10), kBf16Tolerance);
        Case wide = bf16;
        wide.type_d = kFloat32;
        EXPECT_LT(worst_difference(wide, 20), kFloatTolerance);
        wide.type_a = wide.type_b = kFloat32;
        EXPECT_LT(worst_difference(wide, 30), kFloatTolerance);
      }
    }
  }
}

TEST_F(GemmTest, AddsToWhatIsThere) {
  const Case weights{64, 32, 80, kBf16, kBf16, kFloat32, true, false, 0.5F, 1};
  EXPECT_LT(worst_difference(weights, 40), kFloatTolerance);
  const Case input{64, 32, 80, kBf16, kBf16, kBf16, false, false, 1, 1};
  EXPECT_LT(worst_difference(input, 50), kBf16Tolerance);
}

TEST_F(GemmTest, TakesOddExtents) {
  const Case odd{7, 13, 5, kBf16, kBf16, kFloat32, false, true};
  EXPECT_LT(worst_difference(odd, 60), kFloatTolerance);
  const Case one{1, 1, 1, kBf16, kBf16, kBf16, false, false};
  EXPECT_LT(worst_difference(one, 70), kBf16Tolerance);
  const Case nothing_to_add{4, 8, 0, kBf16, kBf16, kFloat32, false, true, 1, 1};
  EXPECT_LT(worst_difference(nothing_to_add, 80), kFloatTolerance);
}

TEST_F(GemmTest, MultipliesFp8WithScalesOfTheDevice) {
  const NumberType e4m3 = NumberType::fp8_e4m3;
  const NumberType e5m2 = NumberType::fp8_e5m2;
  const Case forward{32, 48, 64, e4m3, e4m3, kBf16, false, true};
  EXPECT_LT(worst_difference(forward, 90, 0.5F, 0.25F), kBf16Tolerance);
  const Case input{32, 48, 64, e5m2, e4m3, kBf16, false, true};
  EXPECT_LT(worst_difference(input, 100, 2, 3), kBf16Tolerance);
  const Case weights{32, 48, 64, e5m2, e4m3, kFloat32, false, true, 1, 1};
  EXPECT_LT(worst_difference(weights, 110, 1, 1), kFp8Tolerance);
}

// By hand: elements 1, and scales that differ by row and block, so that each sum names those that
// entered it. Rows and blocks beyond a tile of scales count too.
TEST_F(GemmTest, MultipliesBlocksByTheirScales) {
  if (const std::string why_not = why_no_mxfp8(); !why_not.empty()) GTEST_SKIP() << why_not;
  constexpr std::int64_t kRows = 130;
  constexpr std::int64_t kCols = 16;
  constexpr std::int64_t kSummed = 160;  // five blocks: a tile and a part of one
  const OwnedStream stream;
  const auto ones = [&](std::int64_t rows) {
    const std::vector<std::uint8_t> host(static_cast<std::size_t>(rows * kSummed), 0x38);
    DeviceMemory memory(host.size());
    copy_async(memory.data(), host.data(), host.size(), CopyDirection::to_device, stream);
    synchronize(stream);
    return memory;
  };
  const auto exponent = [](std::int64_t row, std::int64_t block) { return (row + 3 * block) % 7; };
  const auto scales = [&](std::int64_t rows, bool are_one) {
    std::vector<std::uint8_t> host(static_cast<std::size_t>(kernels::mx_scale_bytes(rows, kSummed)),
                                   0);
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t block = 0; block < 5; ++block) {
        host[static_cast<std::size_t>(kernels::mx_scale_offset(row, block, 2))] =
            static_cast<std::uint8_t>(127 + (are_one ? 0 : exponent(row, block)));
      }
    }
    DeviceMemory memory(host.size());
    copy_async(memory.data(), host.data(), host.size(), CopyDirection::to_device, stream);
    synchronize(stream);
    return memory;
  };
  const auto at = [](const DeviceMemory& memory) {
    return reinterpret_cast<const std::uint8_t*>(memory.data());
  };
  const DeviceMemory a = ones(kRows);
  const DeviceMemory b = ones(kCols);
  const DeviceMemory a_scales = scales(kRows, false);
  const DeviceMemory b_scales = scales(kCols, true);
  const Values d = values(kFloat32, kRows, kCols, kCols, 3, stream);
  GemmEngine engine;
  engine.run({.m = kRows,
              .n = kCols,
              .k = kSummed,
              .a = {a.data(), NumberType::mxfp8, kSummed, false, nullptr, at(a_scales)},
              .b = {b.data(), NumberType::mxfp8, kSummed, true, nullptr, at(b_scales)},
              .d = d.memory.data(),
              .d_type = kFloat32,
              .d_stride = kCols},
             stream);
  const std::vector<float> result = numbers_of(d, stream);
  for (std::int64_t row = 0; row < kRows; ++row) {
    double sum = 0;
    for (std::int64_t block = 0; block < 5; ++block) {
      sum += 32 * std::ldexp(1.0, static_cast<int>(exponent(row, block)));
    }
    for (std::int64_t col = 0; col < kCols; ++col) {
      ASSERT_EQ(static_cast<double>(result[static_cast<std::size_t>(row * kCols + col)]), sum)
          << row << ", " << col;
    }
  }
}

TEST_F(GemmTest, MultipliesManyOfOneShape) {
  const OwnedStream stream;
  const Values a = values(kBf16, 3 * 16, 32, 32, 1, stream);
  const Values b = values(kBf16, 3 * 8, 32, 32, 2, stream);
  const Values d = values(kFloat32, 3 * 16, 8, 8, 3, stream);
  GemmEngine engine;
  engine.run({.m = 16,
              .n = 8,
              .k = 32,
              .a = {a.memory.data(), kBf16, 32},
              .b = {b.memory.data(), kBf16, 32, true},
              .d = d.memory.data(),
              .d_type = kFloat32,
              .d_stride = 8,
              .batch = 3,
              .a_batch_stride = 16 * 32,
              .b_batch_stride = 8 * 32,
              .d_batch_stride = 16 * 8},
             stream);
  const std::vector<float> result = numbers_of(d, stream);
  for (std::size_t row = 0; row < 48; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      float sum = 0;
      for (std::size_t p = 0; p < 32; ++p) {
        sum += a.numbers[row * 32 + p] * b.numbers[(row / 16 * 8 + column) * 32 + p];
      }
      EXPECT_NEAR(result[row * 8 + column], sum, 1e-4);
    }
  }
}

Gemm product_of(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {.m = m,
          .n = n,
          .k = k,
          .a = {nullptr, kBf16, k},
          .b = {nullptr, kBf16, k, true},
          .d_type = kBf16,
          .d_stride = n};
}

TEST_F(GemmTest, KeepsTunedPlansAndTakesThemBack) {
  const OwnedStream stream;
  GemmEngine engine;
  const TunedGemm tuned = engine.tune(product_of(64, 32, 48), stream);
  EXPECT_EQ(tuned.key, plan_key(product_of(64, 32, 48)));
  EXPECT_GT(tuned.time_s, 0);
  EXPECT_GT(tuned.tflops_per_s, 0);
  EXPECT_THAT(tuned.algorithm, Not(IsEmpty()));
  EXPECT_EQ(engine.plan_count(), 1U);
  const std::string json = engine.plans_as_json();
  GemmEngine other;
  EXPECT_EQ(other.pin_plans(json), "");
  EXPECT_EQ(other.plan_count(), 1U);
  EXPECT_EQ(other.plans_as_json(), json);
}

TEST_F(GemmTest, TakesNoPlansOfAnotherLibraryAndNoOtherFile) {
  GemmEngine engine;
  const std::string of_another =
      R"({"version": 2, "library": "BLAS 1", "device": "a", "driver": "b",
          "algorithms": {"k": "x"}})";
  EXPECT_THAT(engine.pin_plans(of_another), HasSubstr("the plans are of BLAS 1, this is"));
  EXPECT_EQ(engine.plan_count(), 0U);
  EXPECT_THROW(engine.pin_plans("no json"), std::invalid_argument);
  EXPECT_THROW(engine.pin_plans(R"({"version": 2})"), std::invalid_argument);
}

TEST(GemmRules, RefuseWhatNoLibraryServes) {
  const auto refusal = [](auto change) {
    Gemm gemm = product_of(32, 32, 32);
    change(gemm);
    try {
      check(gemm);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal([](Gemm&) {}), "");
  EXPECT_THAT(refusal([](Gemm& gemm) { gemm.a.type = kFloat32; }), HasSubstr("of one type"));
  EXPECT_THAT(refusal([](Gemm& gemm) { gemm.a.stride = 31; }), HasSubstr("a's stride"));
  EXPECT_THAT(refusal([](Gemm& gemm) { gemm.d_stride = 31; }), HasSubstr("d's stride"));
  EXPECT_THAT(refusal([](Gemm& gemm) { gemm.a.type = NumberType::fp8_e4m3; }),
              HasSubstr("both operands are FP8, or none"));
  EXPECT_THAT(refusal([](Gemm& gemm) {
                gemm.a.type = gemm.b.type = NumberType::fp8_e4m3;
                gemm.b.transposed = false;
              }),
              HasSubstr("k along their rows"));
  EXPECT_THAT(refusal([](Gemm& gemm) { gemm.a.type = gemm.b.type = NumberType::fp8_e5m2; }),
              HasSubstr("E4M3"));
  const auto refusal_of_fp8 = [&](auto change) {
    return refusal([&](Gemm& gemm) {
      gemm.a.type = gemm.b.type = NumberType::fp8_e4m3;
      change(gemm);
    });
  };
  const auto shifted = [](std::uintptr_t bytes) { return reinterpret_cast<void*>(bytes); };
  EXPECT_EQ(refusal_of_fp8([](Gemm&) {}), "");
  EXPECT_THAT(refusal_of_fp8([&](Gemm& gemm) { gemm.a.data = shifted(8); }), HasSubstr("16 bytes"));
  EXPECT_THAT(refusal_of_fp8([&](Gemm& gemm) { gemm.d = shifted(8); }), HasSubstr("16 bytes"));
  EXPECT_THAT(refusal_of_fp8([](Gemm& gemm) { gemm.d_stride = 36; }), HasSubstr("16 bytes"));
}

TEST(GemmRules, RefuseBlocksThatAreNone) {
  const auto refusal = [](auto change) {
    Gemm gemm = product_of(32, 32, 64);
    gemm.a.type = gemm.b.type = NumberType::mxfp8;
    change(gemm);
    try {
      check(gemm);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  static const std::uint8_t scales[2] = {127, 127};
  static const float scale = 1;
  EXPECT_EQ(refusal([](Gemm&) {}), "");
  EXPECT_THAT(refusal([](Gemm& gemm) { gemm.b.type = NumberType::fp8_e4m3; }),
              HasSubstr("both operands are MXFP8"));
  EXPECT_THAT(refusal([](Gemm& gemm) { gemm.k = 48; }), HasSubstr("multiples of 32"));
  EXPECT_THAT(refusal([](Gemm& gemm) { gemm.n = 24; }), HasSubstr("n of 16"));
  EXPECT_THAT(refusal([](Gemm& gemm) { gemm.b.transposed = false; }), HasSubstr("k along"));
  EXPECT_THAT(refusal([](Gemm& gemm) { gemm.batch = 2; }), HasSubstr("no batch"));
  EXPECT_THAT(refusal([](Gemm& gemm) { gemm.a.scale = &scale; }), HasSubstr("scales of blocks"));
  EXPECT_THAT(refusal([](Gemm& gemm) {
                const auto* odd = reinterpret_cast<const std::uint8_t*>(std::uintptr_t{8});
                gemm.a.block_scales = odd;
              }),
              HasSubstr("scales of blocks begin"));
  EXPECT_THAT(refusal([](Gemm& gemm) {
                gemm.a.type = gemm.b.type = NumberType::fp8_e4m3;
                gemm.a.block_scales = scales;
              }),
              HasSubstr("are MXFP8's"));
}

TEST(GemmRules, TellPlansApartByWhatDecidesThem) {
  const Gemm gemm = product_of(32, 64, 96);
  EXPECT_EQ(plan_key(gemm),
            "bf16 n32x96 ld 96 al 16 . bf16 t64x96 ld 96 al 16 -> bf16 32x64 ld 64 al 16");
  Gemm added = gemm;
  added.beta = 1;
  EXPECT_NE(plan_key(added), plan_key(gemm));
  Gemm shifted = gemm;
  shifted.d = reinterpret_cast<void*>(std::uintptr_t{8});
  EXPECT_NE(plan_key(shifted), plan_key(gemm));
}

}  // namespace
}  // namespace llmb::runner::cuda
