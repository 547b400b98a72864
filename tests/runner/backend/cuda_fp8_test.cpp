// Products in FP8 on the CUDA backend: each against what the CPU emulates of it, element by
// element; whole steps as far as narrow numbers bear a comparison; and delayed scaling's histories.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "runner/cpu/quantize.h"
#include "runner/cuda/gemm.h"
#include "tests/runner/backend/small_models.h"
#include "tests/runner/cpu/finite_difference.h"
#include "tests/runner/cuda/device_setup.h"

namespace llmb::runner {
namespace {

using kernels::Bf16;
using testing::BackendStep;
using testing::kBatch;
using testing::small;
using testing::step_of;
using Numbers = cpu::Tensor<double>;
using CudaOps = cuda::Ops<Bf16>;
using CudaFp8 = testing::OnDevice;

class CudaMxfp8 : public testing::OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) return;
    const std::string why_not = cuda::why_no_mxfp8();
    if (!why_not.empty()) GTEST_SKIP() << "No blocks: " << why_not;
  }
};

// A matrix on the device, what BF16 keeps of it, and a place for its scale.
struct Operand {
  Numbers numbers;
  cuda::Tensor<Bf16> values;
  cuda::Array<float> scale_values;

  Operand(CudaOps& ops, std::int64_t rows, std::int64_t cols, std::uint32_t seed)
      : numbers(testing::random_tensor(rows, cols, seed)),
        values(ops, rows, cols),
        scale_values(ops, kFp8InverseStride + 1) {
    std::vector<Bf16> host;
    for (double& number : numbers.values()) {
      host.push_back(kernels::from_float<Bf16>(static_cast<float>(number)));
      number = static_cast<double>(kernels::to_float(host.back()));
    }
    ops.write<Bf16>(host, values.values());
    ops.fill(scale_values.values(), 0.0F);
  }

  Fp8Scale scale(Fp8ScaleKind kind = Fp8ScaleKind::current) {
    if (kind == Fp8ScaleKind::blocks) return {nullptr, nullptr, nullptr, kind};
    float* const first = scale_values.values().data();
    return {first, first + 1, first + kFp8InverseStride, kind};
  }
  void set_scale(CudaOps& ops, double scale) {
    std::vector<float> host(kFp8InverseStride + 1);
    host[1] = static_cast<float>(scale);
    host[kFp8InverseStride] = static_cast<float>(1 / scale);
    ops.write<float>(host, scale_values.values());
  }
  double largest() const { return cpu::Quantize<double>::absolute_max(numbers.view()); }
  Numbers rounded(Fp8Format format, double scale) const {
    Numbers result(numbers.rows(), numbers.cols());
    cpu::Quantize<double>::to_fp8(numbers.view(), format, scale, result.view());
    return result;
  }
  Numbers rounded(Fp8Format format) const { return rounded(format, fp8_scale(largest(), format)); }
};

// sum over k of a(i, k) b(j, k), where a and b are read by `at`.
template <typename A, typename B>
Numbers product(std::int64_t rows, std::int64_t cols, std::int64_t sum, const A& a, const B& b) {
  Numbers result(rows, cols);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) {
      double total = 0;
      for (std::int64_t k = 0; k < sum; ++k) total += a(i, k) * b(j, k);
      result.view().row(i)[j] = total;
    }
  }
  return result;
}
auto as_it_lies(const Numbers& x) {
  return [view = x.view()](std::int64_t i, std::int64_t k) { return view.row(i)[k]; };
}
auto transposed(const Numbers& x) {
  return [view = x.view()](std::int64_t i, std::int64_t k) { return view.row(k)[i]; };
}

// `tolerance` of the largest element: what the result's own type rounds.
template <typename T>
void expect_near(CudaOps& ops, cuda::Tensor<T>& actual, const Numbers& expected, double tolerance,
                 const char* what) {
  const auto host = ops.read(actual.values());
  const double largest = cpu::Quantize<double>::absolute_max(expected.view());
  ASSERT_EQ(host.values().size(), expected.values().size());
  for (std::size_t i = 0; i < host.values().size(); ++i) {
    ASSERT_NEAR(static_cast<double>(kernels::to_float(host.values()[i])), expected.values()[i],
                tolerance * largest)
        << what << " " << i;
  }
}

constexpr double kBf16Rounding = 0x1p-8;
// Tensor cores keep some 14 bits of a sum of FP8 products before they add it in fp32.
constexpr double kFp8Sums = 1e-3;

// Scales of a layer's experts, as Fp8Scaling has them: input, weight, gradient of each.
class ExpertScaleValues {
 public:
  ExpertScaleValues(CudaOps& ops, std::int64_t experts, Fp8ScaleKind kind)
      : kind_(kind),
        operands_(3 * experts),
        first_inverse_(kFp8InverseStride * operands_),
        values_(ops, 2 * first_inverse_) {
    std::vector<float> host(static_cast<std::size_t>(2 * first_inverse_), 0);
    for (std::int64_t i = 0; kind == Fp8ScaleKind::delayed && i < operands_; ++i) {
      const auto scale = static_cast<float>(4 << (i % 4));
      host[static_cast<std::size_t>(operands_ + i)] = scale;
      host[static_cast<std::size_t>(first_inverse_ + kFp8InverseStride * i)] = 1 / scale;
    }
    ops.write<float>(host, values_.values());
  }
  Fp8Scale of(std::int64_t expert, std::int64_t operand) {
    float* const values = values_.values().data();
    const std::int64_t i = 3 * expert + operand;
    return {values + i, values + operands_ + i, values + first_inverse_ + kFp8InverseStride * i,
            kind_};
  }
  Fp8Scale of_all(std::int64_t operand) {
    Fp8Scale scale = of(0, operand);
    scale.stride = 3;
    scale.inverse_stride = 3 * kFp8InverseStride;
    return scale;
  }
  std::vector<float> maxima(CudaOps& ops) {
    const auto host = ops.read(values_.values());
    return {host.values().begin(), host.values().begin() + operands_};
  }

 private:
  Fp8ScaleKind kind_;
  std::int64_t operands_;
  std::int64_t first_inverse_;
  cuda::Array<float> values_;
};

template <typename T>
Numbers numbers_of(CudaOps& ops, cuda::Tensor<T>& tensor) {
  const auto host = ops.read(tensor.values());
  Numbers numbers(tensor.rows(), tensor.cols());
  for (std::size_t i = 0; i < host.values().size(); ++i) {
    numbers.values()[i] = static_cast<double>(kernels::to_float(host.values()[i]));
  }
  return numbers;
}

// What a product sees of an operand whose rows, or whose columns, it adds up.
struct Rounded {
  Numbers along_rows;
  Numbers down_columns;
};
Rounded rounded(const Operand& operand, Fp8Format format, Fp8ScaleKind kind) {
  if (kind != Fp8ScaleKind::blocks) return {operand.rounded(format), operand.rounded(format)};
  const auto in_blocks = [&](auto round) {
    Numbers result(operand.numbers.rows(), operand.numbers.cols());
    round(operand.numbers.view(), result.view());
    return result;
  };
  return {in_blocks(cpu::Quantize<double>::to_mxfp8_along_rows),
          in_blocks(cpu::Quantize<double>::to_mxfp8_down_columns)};
}

// Rows, inputs and outputs of a layer; what is no multiple of 16, or of a block, is padded.
void expect_products(std::int64_t rows, std::int64_t in, std::int64_t out,
                     Fp8ScaleKind kind = Fp8ScaleKind::current,
                     Fp8WeightUse use = Fp8WeightUse::whole_step) {
  SCOPED_TRACE(::testing::Message() << rows << " x " << in << " x " << out);
  CudaOps ops;
  Operand x(ops, rows, in, 1);
  Operand weight(ops, out, in, 2);
  Operand dy(ops, rows, out, 3);
  const Rounded x8 = rounded(x, Fp8Format::e4m3, kind);
  const Rounded weight8 = rounded(weight, Fp8Format::e4m3, kind);
  const Rounded dy8 = rounded(dy, Fp8Format::e5m2, kind);

  cuda::Tensor<Bf16> y(ops, rows, out);
  CudaOps::Fp8Weight cast;
  ops.cast_fp8_weight({weight.values, weight.scale(kind)}, use, cast);
  ops.fp8_linear({x.values, x.scale(kind)}, cast, y);
  expect_near(ops, y,
              product(rows, out, in, as_it_lies(x8.along_rows), as_it_lies(weight8.along_rows)),
              kBf16Rounding, "y");

  cuda::Tensor<Bf16> dx(ops, rows, in);
  cuda::Tensor<float> dweight(ops, out, in);
  ops.fill(dweight.values(), 0.5F);
  if (use == Fp8WeightUse::forward) {
    cast = {};
    ops.cast_fp8_weight({weight.values, weight.scale(kind)}, Fp8WeightUse::backward, cast);
  }
  const auto gradient = ops.cast_fp8_gradient({dy.values, dy.scale(kind)});
  ops.fp8_linear_backward_input(gradient, cast, dx);
  ops.fp8_linear_backward_weight({x.values, x.scale(kind)}, gradient, dweight);
  expect_near(ops, dx,
              product(rows, in, out, as_it_lies(dy8.along_rows), transposed(weight8.down_columns)),
              kBf16Rounding, "dx");
  Numbers sum = product(out, in, rows, transposed(dy8.down_columns), transposed(x8.down_columns));
  for (double& value : sum.values()) value += 0.5;
  expect_near(ops, dweight, sum, kFp8Sums, "dweight");
}

TEST_F(CudaFp8, ProductsAreThoseThatTheCpuEmulates) {
  expect_products(16, 32, 24);
  expect_products(48, 16, 64);
  expect_products(5, 40, 8);  // an expert's rows, and inputs, that are padded
  expect_products(1, 16, 16);
  expect_products(5, 40, 8, Fp8ScaleKind::current, Fp8WeightUse::forward);
}

// Whole tiles of scales, and parts of some; a block's rest, an expert's rows.
TEST_F(CudaMxfp8, ProductsAreThoseThatTheCpuEmulates) {
  constexpr Fp8ScaleKind kBlocks = Fp8ScaleKind::blocks;
  expect_products(128, 128, 128, kBlocks);
  expect_products(144, 160, 176, kBlocks);
  expect_products(5, 48, 16, kBlocks);
  expect_products(1, 16, 16, kBlocks);
  expect_products(37, 96, 144, kBlocks, Fp8WeightUse::forward);
}

TEST_F(CudaFp8, NoRowsAreNoProduct) {
  CudaOps ops;
  Operand x(ops, 0, 16, 1);
  Operand weight(ops, 8, 16, 2);
  Operand dy(ops, 0, 8, 3);
  cuda::Tensor<Bf16> y(ops, 0, 8);
  cuda::Tensor<Bf16> dx(ops, 0, 16);
  cuda::Tensor<float> dweight(ops, 8, 16);
  ops.fill(dweight.values(), 2.0F);
  CudaOps::Fp8Weight cast;
  weight.set_scale(ops, 1);
  ops.cast_fp8_weight({weight.values, weight.scale(Fp8ScaleKind::delayed)},
                      Fp8WeightUse::whole_step, cast);
  ops.fp8_linear({x.values, x.scale(Fp8ScaleKind::delayed)}, cast, y);
  const auto gradient = ops.cast_fp8_gradient({dy.values, dy.scale(Fp8ScaleKind::delayed)});
  ops.fp8_linear_backward_input(gradient, cast, dx);
  ops.fp8_linear_backward_weight({x.values, x.scale(Fp8ScaleKind::delayed)}, gradient, dweight);
  const auto sum = ops.read(dweight.values());
  for (const float value : sum.values()) EXPECT_EQ(value, 2.0F);
  // The weight is there all the same, and counts.
  EXPECT_FLOAT_EQ(ops.read(weight.scale_values.values()).values()[0],
                  static_cast<float>(weight.largest()));
}

TEST_F(CudaFp8, DelayedScalesAreTakenAsTheyAreAndMaximaAreNoted) {
  CudaOps ops;
  Operand x(ops, 16, 32, 1);
  Operand weight(ops, 24, 32, 2);
  x.set_scale(ops, 64);
  weight.set_scale(ops, 4096);  // saturates
  cuda::Tensor<Bf16> y(ops, 16, 24);
  CudaOps::Fp8Weight cast;
  ops.cast_fp8_weight({weight.values, weight.scale(Fp8ScaleKind::delayed)},
                      Fp8WeightUse::whole_step, cast);
  ops.fp8_linear({x.values, x.scale(Fp8ScaleKind::delayed)}, cast, y);
  const Numbers x8 = x.rounded(Fp8Format::e4m3, 64);
  const Numbers weight8 = weight.rounded(Fp8Format::e4m3, 4096);
  expect_near(ops, y, product(16, 24, 32, as_it_lies(x8), as_it_lies(weight8)), kBf16Rounding, "y");
  EXPECT_FLOAT_EQ(ops.read(x.scale_values.values()).values()[0], static_cast<float>(x.largest()));
}

// A layer of experts: its operands, and its products in the two ways, with rows on the device and
// an expert at a time.
struct ExpertLayer {
  static constexpr std::int64_t kRows = 39;
  static constexpr std::int64_t kIn = 40;
  static constexpr std::int64_t kOut = 24;
  struct Products {
    cuda::Tensor<Bf16> y, dx;
    cuda::Tensor<float> dweight;
  };

  explicit ExpertLayer(CudaOps& on)
      : ops(on),
        x(on, kRows, kIn, 1),
        weight(on, experts() * kOut, kIn, 2),
        dy(on, kRows, kOut, 3),
        on_device(on, experts()) {
    ops.write<std::int32_t>(counts, on_device.values());
  }
  std::int64_t experts() const { return std::ssize(counts); }
  Products products() const {
    Products made{{ops, kRows, kOut}, {ops, kRows, kIn}, {ops, experts() * kOut, kIn}};
    ops.fill(made.dweight.values(), 0.5F);
    return made;
  }

  Products together(ExpertScaleValues& scales, Fp8WeightUse use) {
    const std::span<const std::int32_t> rows = std::as_const(on_device).values();
    Products made = products();
    CudaOps::Fp8Weight cast;
    ops.cast_fp8_experts({weight.values, scales.of_all(1)}, experts(), use, cast);
    ops.fp8_linear(rows, {x.values, scales.of_all(0)}, cast, made.y);
    if (use == Fp8WeightUse::forward) {
      cast = {};
      ops.cast_fp8_experts({weight.values, scales.of_all(1)}, experts(), Fp8WeightUse::backward,
                           cast);
    }
    const auto gradient = ops.cast_fp8_gradient(rows, {dy.values, scales.of_all(2)});
    ops.fp8_linear_backward_input(rows, gradient, cast, made.dx);
    ops.fp8_linear_backward_weight(rows, {x.values, scales.of_all(0)}, gradient, made.dweight);
    return made;
  }

  Products one_by_one(ExpertScaleValues& scales) {
    Products made = products();
    std::int64_t first = 0;
    for (std::int64_t e = 0; e < experts(); ++e) {
      const std::int64_t count = counts[static_cast<std::size_t>(e)];
      CudaOps::Fp8Weight cast;
      ops.cast_fp8_weight({weight.values.view().slice(e * kOut, kOut), scales.of(e, 1)},
                          Fp8WeightUse::whole_step, cast);
      const CudaOps::Fp8Input input{x.values.view().slice(first, count), scales.of(e, 0)};
      ops.fp8_linear(input, cast, made.y.view().slice(first, count));
      const auto gradient =
          ops.cast_fp8_gradient({dy.values.view().slice(first, count), scales.of(e, 2)});
      ops.fp8_linear_backward_input(gradient, cast, made.dx.view().slice(first, count));
      ops.fp8_linear_backward_weight(input, gradient, made.dweight.view().slice(e * kOut, kOut));
      first += count;
    }
    return made;
  }

  CudaOps& ops;
  std::vector<std::int32_t> counts = {5, 0, 34};
  Operand x, weight, dy;
  cuda::Array<std::int32_t> on_device;
};

TEST_F(CudaFp8, ExpertsCountedOnTheDeviceAreThoseOfTheHost) {
  for (const Fp8ScaleKind kind : {Fp8ScaleKind::current, Fp8ScaleKind::delayed}) {
    for (const Fp8WeightUse use : {Fp8WeightUse::whole_step, Fp8WeightUse::forward}) {
      CudaOps ops;
      ExpertLayer layer(ops);
      ExpertScaleValues scales(ops, layer.experts(), kind);
      ExpertScaleValues of_each(ops, layer.experts(), kind);
      ExpertLayer::Products here = layer.together(scales, use);
      ExpertLayer::Products each = layer.one_by_one(of_each);
      expect_near(ops, here.y, numbers_of(ops, each.y), kBf16Rounding, "y");
      expect_near(ops, here.dx, numbers_of(ops, each.dx), kBf16Rounding, "dx");
      expect_near(ops, here.dweight, numbers_of(ops, each.dweight), kFp8Sums, "dweight");
      if (kind != Fp8ScaleKind::delayed) continue;
      EXPECT_EQ(scales.maxima(ops), of_each.maxima(ops));
    }
  }
}

// The distance of all gradients, relative to their length.
double distance_of(const BackendStep& one, const BackendStep& other) {
  double squares = 0;
  double length = 0;
  for (const auto& [name, expected] : other.gradients) {
    const std::vector<double>& gradient = one.gradients.at(name);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      squares += std::pow(gradient[i] - expected[i], 2);
      length += std::pow(expected[i], 2);
    }
  }
  return std::sqrt(squares / length);
}

// A BF16 number that is rounded otherwise may move an element of FP8 by an eighth or a quarter, so
// whole steps are near each other only as a whole: no farther than FP8 is from BF16, of which the
// device's own BF16 is told apart.
void expect_step_in(Precision precision, const char* family, const ModelSpec& spec) {
  using Cpu = cpu::Backend<float>;
  using Cuda = cuda::Backend<Bf16>;
  const BackendStep cuda = step_of<Cuda>(spec, {}, kBatch, precision);
  const BackendStep emulated = step_of<Cpu>(spec, {}, kBatch, precision);
  const double of_formats = distance_of(step_of<Cpu>(spec, {}, kBatch, Precision::bf16), emulated);
  const double distance = distance_of(cuda, emulated);
  const double from_bf16 = distance_of(step_of<Cuda>(spec, {}, kBatch, Precision::bf16), cuda);
  SCOPED_TRACE(::testing::Message() << precision_name(precision) << " of " << family);
  EXPECT_NEAR(cuda.losses[0] / emulated.losses[0], 1, 5e-3);
  EXPECT_LT(distance, 1.2 * of_formats);
  EXPECT_GT(from_bf16, 0.6 * of_formats);
  std::cout << family << " " << precision_name(precision) << ": gradients' distance from the CPU's "
            << distance << ", BF16's there " << of_formats << ", BF16's here " << from_bf16 << "\n";
}

TEST_F(CudaFp8, TrainsEveryFamilyAsTheCpuEmulatesIt) {
  expect_step_in(Precision::fp8_current, "Llama 3.1", small("pretrain_llama3.1", "8b"));
  expect_step_in(Precision::fp8_current, "Nemotron-4", small("pretrain_nemotron4", "15b"));
  expect_step_in(Precision::fp8_current, "Maverick", testing::small_maverick());
  expect_step_in(Precision::fp8_delayed, "Grok-1", small("pretrain_grok1", "314b"));
}

// Casting for each pass is the same to the bit, with every kind of scales, over updates and experts
// without rows.
void expect_kept_is_cast(const ModelSpec& spec, Precision precision) {
  StageOptions keeping;
  keeping.keeps_fp8_weights = true;
  using Cuda = cuda::Backend<Bf16>;
  const BackendStep kept = step_of<Cuda>(spec, {}, kBatch, precision, 2, keeping);
  const BackendStep cast = step_of<Cuda>(spec, {}, kBatch, precision, 2);
  EXPECT_EQ(kept.losses, cast.losses);
  EXPECT_EQ(kept.gradients, cast.gradients);
}

TEST_F(CudaFp8, WeightsCastOnceAStepAreThoseOfEveryPass) {
  expect_kept_is_cast(small("pretrain_llama3.1", "8b"), Precision::fp8_current);
  expect_kept_is_cast(small("pretrain_grok1", "314b"), Precision::fp8_delayed);
}

// The second step's scales follow from what the first one's ranks saw together.
TEST_F(CudaFp8, RanksAgreeOnDelayedScales) {
  const ParallelSizes sizes{.tp = 2, .dp = 2};
  if (cuda::count_devices().count < sizes.world()) GTEST_SKIP() << "four devices are needed";
  const ModelSpec spec = small("pretrain_llama3.1", "8b");
  const BatchSizes batch{2, 4};
  const auto cuda = step_of<cuda::Backend<Bf16>>(spec, sizes, batch, Precision::fp8_delayed, 2);
  const auto cpu = step_of<cpu::Backend<float>>(spec, sizes, batch, Precision::fp8_delayed, 2);
  EXPECT_NEAR(cuda.losses[1] / cpu.losses[1], 1, 1e-2);
  EXPECT_NEAR(cuda.gradient_norm / cpu.gradient_norm, 1, 5e-2);
}

// Experts of 32 rows: 16 is what products in blocks want a multiple of.
ModelSpec wide_grok() {
  ModelSpec spec = small("pretrain_grok1", "314b");
  spec.shape.expert_ffn_hidden_size = 32;
  return spec;
}

TEST_F(CudaMxfp8, TrainsAsTheCpuEmulatesIt) {
  expect_step_in(Precision::mxfp8, "Llama 3.1", small("pretrain_llama3.1", "8b"));
  expect_step_in(Precision::mxfp8, "Nemotron-4", small("pretrain_nemotron4", "15b"));
  expect_step_in(Precision::mxfp8, "Grok-1", wide_grok());
}

TEST_F(CudaMxfp8, WeightsCastOnceAStepAreThoseOfEveryPass) {
  expect_kept_is_cast(small("pretrain_llama3.1", "8b"), Precision::mxfp8);
  expect_kept_is_cast(wide_grok(), Precision::mxfp8);
}

}  // namespace
}  // namespace llmb::runner
