// Every layout of up to 16 ranks that a model can be cut into, and one step of each as a rank of
// it sees it, against one rank alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "runner/parallel/layout.h"
#include "runner/parallel/loopback_communicator.h"
#include "runner/parallel/thread_communicator.h"
#include "runner/plan/layout_check.h"
#include "tests/runner/transformer/rank_step.h"

namespace llmb::runner::testing {

inline std::string name_of_sizes(const ParallelSizes& sizes) {
  const auto part = [](const char* name, int size) { return name + std::to_string(size) + " "; };
  return part("tp", sizes.tp) + part("cp", sizes.cp) + part("dp", sizes.dp) + part("pp", sizes.pp) +
         part("vp", sizes.vp) + part("ep", sizes.ep) + part("etp", sizes.etp);
}

// Enough micro-batches that several are in flight, or that interleaving goes round once.
inline BatchSizes batch_of(const ParallelSizes& sizes, std::int64_t micro_batch_size) {
  const int micro_batches = sizes.vp > 1 ? sizes.pp : std::min(sizes.pp, 2);
  return {micro_batch_size, micro_batch_size * sizes.dp * micro_batches};
}

inline std::vector<ParallelSizes> layouts_up_to(int ranks, const ModelSpec& spec,
                                                std::int64_t micro_batch_size) {
  std::vector<ParallelSizes> layouts;
  const auto consider = [&](const ParallelSizes& sizes) {
    const bool folds = Layout::make(sizes, sizes.world()).has_value();
    const bool fits = check_layout(spec, sizes, batch_of(sizes, micro_batch_size)).empty();
    if (folds && fits) layouts.push_back(sizes);
  };
  for (int tp = 1; tp <= ranks; ++tp) {
    for (int cp = 1; tp * cp <= ranks; ++cp) {
      for (int dp = 1; tp * cp * dp <= ranks; ++dp) {
        for (int pp = 1; tp * cp * dp * pp <= ranks; ++pp) {
          for (int vp = 1; vp <= spec.shape.layer_count; ++vp) {
            for (int ep = 1; ep <= (spec.is_moe() ? tp * cp * dp : 1); ++ep) {
              for (int etp = 1; etp * ep <= (spec.is_moe() ? tp * cp * dp : 1); ++etp) {
                consider({tp, cp, dp, pp, vp, ep, etp});
              }
            }
          }
        }
      }
    }
  }
  return layouts;
}

// Loss and whole gradients of one step.
struct StepOfOneRank {
  double loss = 0;
  std::map<std::string, std::vector<float>, std::less<>> gradients;
};

inline StepOfOneRank step_of_one_rank(const ModelSpec& spec, const BatchSizes& batch,
                                      std::uint64_t seed) {
  const auto world = make_loopback_world();
  RankStep<float> rank(*world, spec, *Layout::make({}, 1), batch, seed);
  StepOfOneRank step{rank.forward_backward(0), {}};
  for (const auto& local : rank.store().parameters()) {
    step.gradients[local.parameter.name] = {local.gradient.begin(), local.gradient.end()};
  }
  return step;
}

// Where element i of a rank's part lies in the whole tensor.
template <typename Backend>
std::size_t whole_index_of(const LocalParameter<Backend>& local, std::size_t i) {
  auto rest = static_cast<std::int64_t>(i);
  std::int64_t index = 0;
  std::int64_t stride = 1;
  for (std::size_t axis = local.local_shape.size(); axis-- > 0;) {
    index += (rest % local.local_shape[axis] + local.origin[axis]) * stride;
    rest /= local.local_shape[axis];
    stride *= local.parameter.shape[axis];
  }
  return static_cast<std::size_t>(index);
}

// The largest difference of a gradient's elements, relative to the tensor's largest element.
struct LargestDifference {
  double loss = 0;
  double gradient = 0;
  std::string where;
};

inline LargestDifference compare_with_one_rank(const ModelSpec& spec, const ParallelSizes& sizes,
                                               const BatchSizes& batch, std::uint64_t seed,
                                               const StepOfOneRank& expected) {
  const Layout layout = *Layout::make(sizes, sizes.world());
  LargestDifference largest;
  std::mutex mutex;
  run_thread_ranks(sizes.world(), [&](World& world) {
    RankStep<float> rank(world, spec, layout, batch, seed);
    const double loss = rank.forward_backward(0);
    const std::lock_guard lock(mutex);
    largest.loss = std::max(largest.loss, std::fabs(loss - expected.loss) / expected.loss);
    for (const auto& local : rank.store().parameters()) {
      const std::vector<float>& whole = expected.gradients.at(local.parameter.name);
      float scale = 0;
      for (const float g : whole) scale = std::max(scale, std::fabs(g));
      for (std::size_t i = 0; i < local.gradient.size(); ++i) {
        const float other = whole[whole_index_of(local, i)];
        const double difference = std::fabs(local.gradient[i] - other) / scale;
        if (!(difference <= largest.gradient)) {  // also where it is no number
          largest.gradient = difference;
          largest.where = local.parameter.name + " of rank " + std::to_string(world.rank());
        }
      }
    }
  });
  return largest;
}

}  // namespace llmb::runner::testing
