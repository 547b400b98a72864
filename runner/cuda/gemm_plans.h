// What is known of matrix products beside running them: the file that keeps plans, and operands of
// random numbers to time a product on, because zeros and constants take less power and so are
// quicker than any training step.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "runner/cuda/gemm.h"
#include "runner/cuda/memory.h"

namespace llmb::runner::cuda {

// What decides whether a plan of one machine is one of another's.
struct GemmPlace {
  std::string library;
  std::string device;
  std::string driver;
};
// Of the calling thread's device.
GemmPlace gemm_place();

struct GemmPlans {
  GemmPlace place;
  std::map<std::string, std::string> algorithms;  // by plan_key
};
std::string gemm_plans_as_json(const GemmPlans& plans);
// Throws std::invalid_argument where it is no such file.
GemmPlans gemm_plans_from_json(const std::string& json);
// Empty where the plans are of this place.
std::string why_plans_differ(const GemmPlans& plans, const GemmPlace& place);

// The quickest of so many algorithms, the library's suggestion first.
struct AlgorithmChoice {
  std::size_t index = 0;
  double time_s = 0;
  double first_time_s = 0;  // of the first that was not refused
};
// `time_of` gives the seconds of one product, or nothing where the algorithm is refused. A later
// algorithm has to be quicker by a hundredth: less is what two measurements differ by. After
// `until` none is begun but the first. Nothing where all are refused.
std::optional<AlgorithmChoice> choose_algorithm(
    std::size_t count, const std::function<std::optional<double>(std::size_t)>& time_of,
    std::chrono::steady_clock::time_point until);

// Throws DeviceError where the product is of MXFP8 and why_no_mxfp8 has a reason.
void require_served(const Gemm& gemm);
// The library's part of why_no_mxfp8; it has no part in what the device is.
std::string why_library_has_no_mxfp8();

double flops_of(const Gemm& gemm);

// From the first to the last byte of an operand, or of d, of all products of the batch.
std::size_t bytes_of_a(const Gemm& gemm);
std::size_t bytes_of_b(const Gemm& gemm);
std::size_t bytes_of_d(const Gemm& gemm);

// Of every row: bytes, 16 at most, which are all that the quickest algorithms want.
std::size_t row_alignment(const void* data, std::int64_t stride, NumberType type);

// Device memory for a product's operands and result, with random operands in it: uniform in
// (-1, 1), and a result of zeros.
class GemmBuffers {
 public:
  // Puts copies on the stream, and waits for them.
  GemmBuffers(const Gemm& like, Stream stream);
  // As `like`, over this memory.
  const Gemm& gemm() const { return gemm_; }

 private:
  Gemm gemm_;
  DeviceMemory a_, b_, d_, scale_;
};

}  // namespace llmb::runner::cuda
