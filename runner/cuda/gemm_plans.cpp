#include "runner/cuda/gemm_plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "runner/cuda/device.h"
#include "runner/cuda/device_error.h"
#include "runner/cuda/stream.h"
#include "runner/data/counter_random.h"
#include "runner/kernels/mx_scales.h"
#include "runner/operation/fp8_format.h"

namespace llmb::runner::cuda {
namespace {

constexpr int kVersion = 2;  // 1 had no driver

// Elements from the first to the last one, of all products of the batch.
std::int64_t extent(std::int64_t rows, std::int64_t cols, std::int64_t stride, std::int64_t batch,
                    std::int64_t batch_stride) {
  return (batch - 1) * batch_stride + (rows - 1) * stride + cols;
}

std::size_t operand_bytes(const GemmOperand& x, std::int64_t rows, std::int64_t cols,
                          std::int64_t batch, std::int64_t batch_stride) {
  if (x.transposed) std::swap(rows, cols);
  if (rows == 0 || cols == 0 || batch == 0) return 0;
  return static_cast<std::size_t>(extent(rows, cols, x.stride, batch, batch_stride)) *
         bytes_of(x.type);
}

// The bytes of a block of random numbers; larger operands repeat it.
std::vector<std::byte> random_bytes(NumberType type, std::int64_t count) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * bytes_of(type));
  const auto fill = [&](auto example) {
    using T = decltype(example);
    auto* numbers = reinterpret_cast<T*>(bytes.data());
    for (std::int64_t i = 0; i < count; ++i) {
      const double unit = unit_at(key_of("gemm.operand"), static_cast<std::uint64_t>(i));
      numbers[i] = kernels::from_float<T>(static_cast<float>(2 * unit - 1));
    }
  };
  switch (type) {
    case NumberType::bf16:
      fill(kernels::Bf16{});
      break;
    case NumberType::fp8_e4m3:
    case NumberType::mxfp8:
      fill(kernels::Fp8E4m3{});
      break;
    case NumberType::fp8_e5m2:
      fill(kernels::Fp8E5m2{});
      break;
    default:
      fill(0.0F);
  }
  return bytes;
}

DeviceMemory random_operand(NumberType type, std::size_t bytes, Stream stream) {
  constexpr std::int64_t kBlock = 1 << 20;
  const auto count = static_cast<std::int64_t>(bytes / bytes_of(type));
  const std::vector<std::byte> block = random_bytes(type, std::min(count, kBlock));
  DeviceMemory memory(bytes);
  for (std::size_t at = 0; at < memory.bytes(); at += block.size()) {
    copy_async(memory.data() + at, block.data(), std::min(block.size(), memory.bytes() - at),
               CopyDirection::to_device, stream);
  }
  synchronize(stream);
  return memory;
}

}  // namespace

std::string gemm_plans_as_json(const GemmPlans& plans) {
  const nlohmann::json json = {{"version", kVersion},
                               {"library", plans.place.library},
                               {"device", plans.place.device},
                               {"driver", plans.place.driver},
                               {"algorithms", plans.algorithms}};
  return json.dump(1) + "\n";
}

GemmPlans gemm_plans_from_json(const std::string& text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    if (json.at("version") != kVersion) throw std::invalid_argument("another version");
    return {{json.at("library"), json.at("device"), json.at("driver")},
            json.at("algorithms").get<std::map<std::string, std::string>>()};
  } catch (const std::exception& error) {
    throw std::invalid_argument(
        fmt::format("it does not hold plans of matrix products: {}", error.what()));
  }
}

GemmPlace gemm_place() {
  const DeviceInfo device = current_device();
  constexpr int kMajor = 1000;
  constexpr int kMinor = 10;
  return {gemm_library(), device.name,
          fmt::format("a driver for CUDA {}.{}", device.driver_version / kMajor,
                      device.driver_version % kMajor / kMinor)};
}

std::string why_plans_differ(const GemmPlans& plans, const GemmPlace& place) {
  if (plans.place.library != place.library) {
    return fmt::format("the plans are of {}, this is {}", plans.place.library, place.library);
  }
  if (plans.place.device != place.device) {
    return fmt::format("the plans are of a {}, this is a {}", plans.place.device, place.device);
  }
  if (plans.place.driver != place.driver) {
    return fmt::format("the plans are of {}, this is {}", plans.place.driver, place.driver);
  }
  return "";
}

std::optional<AlgorithmChoice> choose_algorithm(
    std::size_t count, const std::function<std::optional<double>(std::size_t)>& time_of,
    std::chrono::steady_clock::time_point until) {
  constexpr double kWon = 0.99;
  std::optional<AlgorithmChoice> choice;
  for (std::size_t index = 0; index < count; ++index) {
    if (choice && std::chrono::steady_clock::now() >= until) break;
    const std::optional<double> time_s = time_of(index);
    if (!time_s) continue;
    if (!choice) {
      choice = {index, *time_s, *time_s};
    } else if (*time_s < choice->time_s && *time_s < kWon * choice->first_time_s) {
      choice->index = index;
      choice->time_s = *time_s;
    }
  }
  return choice;
}

std::string why_no_mxfp8() {
  const DeviceInfo device = current_device();
  if (device.compute_capability >= kFirstWithMxfp8) return why_library_has_no_mxfp8();
  return fmt::format("device {} ({}) is sm_{}, tensor cores take blocks from sm_{} on",
                     device.index, device.name, device.compute_capability, kFirstWithMxfp8);
}

void require_served(const Gemm& gemm) {
  if (gemm.a.type != NumberType::mxfp8) return;
  if (const std::string why_not = why_no_mxfp8(); !why_not.empty()) {
    throw DeviceError("multiply in MXFP8", why_not, "",
                      "FP8 with a scale for each matrix (--dtype fp8_cs) needs no blocks.");
  }
}

double flops_of(const Gemm& gemm) {
  return 2.0 * static_cast<double>(gemm.m) * static_cast<double>(gemm.n) *
         static_cast<double>(gemm.k) * static_cast<double>(gemm.batch);
}

std::size_t bytes_of_a(const Gemm& gemm) {
  return operand_bytes(gemm.a, gemm.m, gemm.k, gemm.batch, gemm.a_batch_stride);
}
std::size_t bytes_of_b(const Gemm& gemm) {
  return operand_bytes(gemm.b, gemm.k, gemm.n, gemm.batch, gemm.b_batch_stride);
}
std::size_t bytes_of_d(const Gemm& gemm) {
  const GemmOperand d{gemm.d, gemm.d_type, gemm.d_stride};
  return operand_bytes(d, gemm.m, gemm.n, gemm.batch, gemm.d_batch_stride);
}

GemmBuffers::GemmBuffers(const Gemm& like, Stream stream)
    : gemm_(like),
      a_(random_operand(like.a.type, bytes_of_a(like), stream)),
      b_(random_operand(like.b.type, bytes_of_b(like), stream)),
      d_(bytes_of_d(like)) {
  gemm_.a.data = a_.data();
  gemm_.b.data = b_.data();
  gemm_.d = d_.data();
  fill_async(d_.data(), 0, d_.bytes(), stream);
  if (like.a.type == NumberType::mxfp8) {
    constexpr std::uint8_t kOne = 127;
    scale_ = DeviceMemory(
        static_cast<std::size_t>(kernels::mx_scale_bytes(std::max(like.m, like.n), like.k)));
    fill_async(scale_.data(), kOne, scale_.bytes(), stream);
    gemm_.a.block_scales = gemm_.b.block_scales =
        reinterpret_cast<const std::uint8_t*>(scale_.data());
    synchronize(stream);
  } else if (is_fp8(like.a.type)) {
    const float one = 1;
    scale_ = DeviceMemory(sizeof(one));
    copy_async(scale_.data(), &one, sizeof(one), CopyDirection::to_device, stream);
    gemm_.a.scale = gemm_.b.scale = reinterpret_cast<const float*>(scale_.data());
    synchronize(stream);
  }
}

}  // namespace llmb::runner::cuda
