// What is known of matrix products beside running them: the file that keeps plans, and operands of
// random numbers to time a product on, because zeros and constants take less power and so are
// quicker than any training step.
#pragma once

#include <map>
#include <string>

#include "runner/cuda/gemm.h"
#include "runner/cuda/memory.h"

namespace llmb::runner::cuda {

struct GemmPlans {
  std::string library;
  std::string device;
  std::map<std::string, std::string> algorithms;  // by plan_key
};
std::string gemm_plans_as_json(const GemmPlans& plans);
// Throws std::invalid_argument where it is no such file.
GemmPlans gemm_plans_from_json(const std::string& json);
// Empty where the plans are of this library and device.
std::string why_plans_differ(const GemmPlans& plans, const std::string& library,
                             const std::string& device);

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
