#include "runner/cuda/expert_tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "runner/cuda/gemm.h"
#include "runner/cuda/grouped_operands.h"
#include "runner/cuda/memory.h"

namespace llmb::runner::cuda {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kExpertProducts = 3;
constexpr int kExpertRuns = 6;

double one_launch_s(const GroupedOperands& on, std::size_t pass, Stream stream) {
  Event begin(Event::Timing::with);
  Event end(Event::Timing::with);
  on.multiply(pass);  // loads its kernel
  begin.record(stream);
  for (int i = 0; i < kExpertRuns; ++i) on.multiply(pass);
  end.record(stream);
  end.synchronize();
  return Event::seconds_between(begin, end) / kExpertRuns;
}

// From the copy of the counts being put on the stream to the host having them.
double wait_s(std::int64_t experts, Stream stream) {
  const DeviceMemory counts(static_cast<std::size_t>(experts) * sizeof(std::int32_t));
  std::vector<std::int32_t> on_host(static_cast<std::size_t>(experts));
  fill_async(counts.data(), 0, counts.bytes(), stream);
  double least = 0;
  for (int i = 0; i <= kExpertRuns; ++i) {
    synchronize(stream);
    const Clock::time_point begun = Clock::now();
    copy_async(on_host.data(), counts.data(), counts.bytes(), CopyDirection::to_host, stream);
    synchronize(stream);
    const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
    least = i == 0 ? seconds : std::min(least, seconds);
  }
  return least;
}

}  // namespace

std::optional<ExpertTimes> time_experts(const std::vector<LinearShape>& experts,
                                        ProductNumbers numbers, Stream stream,
                                        std::chrono::steady_clock::time_point until) {
  ExpertTimes times;
  for (const LinearShape& linear : experts) {
    if (Clock::now() >= until) return std::nullopt;
    {
      const GroupedOperands on(linear, numbers, stream);
      for (std::size_t pass = 0; pass < kExpertProducts; ++pass) {
        if (Clock::now() >= until) return std::nullopt;
        times.one_launch_s += one_launch_s(on, pass, stream);
      }
    }
    GemmEngine engine;
    for (const Gemm& gemm : products_of(linear, numbers)) {
      if (Clock::now() >= until) return std::nullopt;
      const TunedGemm suggested = engine.tune(gemm, stream, Clock::now());
      times.library_s += static_cast<double>(linear.experts) * suggested.first_time_s;
    }
  }
  if (!experts.empty()) times.wait_s = wait_s(experts.front().experts, stream);
  times.library_s += times.wait_s;
  return times;
}

std::string expert_key(const std::vector<LinearShape>& experts, ProductNumbers numbers) {
  std::string key;
  for (const LinearShape& linear : experts) {
    key += key.empty() ? fmt::format("{} experts of {} rows{}:", linear.experts, linear.rows,
                                     is_fp8(numbers) ? " in FP8" : "")
                       : ",";
    key += fmt::format(" {} to {}", linear.in, linear.out);
  }
  return key;
}

}  // namespace llmb::runner::cuda
