// Ceiling: what a machine sustained of one operation, repeated for as long as asked, whatever
// backend measured it: a line of the table that `llmb-step-runner ceilings` prints, and what a
// step's achieved speed is held against. And the shapes that are measured.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runner/operation/attention_shape.h"

namespace llmb::runner {

struct Ceiling {
  std::string name;  // "gemm forward 8192x8192x8192 bf16"
  // As a profile calls it ("linear.forward"), and how many of it a pass of the model has.
  std::string operation;
  double count = 1;
  double time_s = 0;  // of one repetition: the median of the pieces that were timed
  double time_s_min = 0;
  double time_s_max = 0;
  double flops = 0;  // of one repetition; 0 where bytes count
  double bytes = 0;
  std::int64_t repetitions = 0;
  // While it ran, where the machine tells.
  std::optional<double> sm_clock_hz;
  std::optional<double> power_w;
  std::vector<std::string> throttle_reasons;
  std::string why_not;  // where it was not measured; no number counts then

  double tflops_per_s() const { return flops / time_s * 1e-12; }
  double gb_per_s() const { return bytes / time_s * 1e-9; }
};
using CeilingSink = std::function<void(const Ceiling&)>;

// Which operands a linear layer's products have: an FP8 run's head is BF16, and its router, like
// any other's, fp32; an expert's rows are those that came to it.
enum class LinearKind : std::uint8_t { layer, expert, router, head };

// A linear layer on one rank: its three products are measured.
struct LinearShape {
  std::string name;  // "attention qkv"
  std::int64_t rows = 0;
  std::int64_t in = 0;
  std::int64_t out = 0;
  double count = 1;  // a pass of the model, on one rank
  LinearKind kind = LinearKind::layer;
  // Of experts: so many are all on a rank, each with so many rows, and one launch may compute them.
  std::int64_t experts = 1;

  // As a profile calls the product of a pass: "linear.forward", "grouped_linear.backward_weight",
  // "router.logits_backward", "fp8_linear.backward_input".
  std::string operation(const std::string& pass, bool is_fp8) const;
};

// What a training step of one model does most of.
struct CeilingShapes {
  std::vector<LinearShape> linears;
  AttentionShape attention;             // no heads: not measured
  std::vector<std::int64_t> positions;  // of the queries
  std::int64_t key_count = 0;
  std::int64_t copy_bytes = 0;
};

// FLOPs of the forward pass's two products, as published results count them: over the half of the
// square that a causal mask leaves.
double attention_flops(const AttentionShape& shape, std::span<const std::int64_t> positions);

// Median and extremes of the seconds that one repetition took in each piece; `times_s` is sorted.
void set_times(std::vector<double> times_s, Ceiling& ceiling);

// What the ceilings say of a profile's operations: those of one name together, each as often as the
// model has it; whatever counts bytes is held against copies.
class OpCeilings {
 public:
  void add(const Ceiling& ceiling);
  std::optional<double> flops_per_s(const std::string& operation) const;
  // Of a collective what was measured of the same, of anything else what a copy sustained.
  std::optional<double> bytes_per_s(const std::string& operation) const;

 private:
  struct Sum {
    double work = 0;  // FLOPs, or bytes
    double time_s = 0;
  };
  std::map<std::string, Sum> flops_;
  std::map<std::string, Sum> bytes_;
  std::optional<double> copied_bytes_per_s_;
};

// A line of the table, and its heading.
std::string ceiling_heading();
std::string ceiling_line(const Ceiling& ceiling);

}  // namespace llmb::runner
