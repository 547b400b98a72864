// Ops: the operations of a training step on a CUDA device, one rank's: kernels of runner/kernels,
// products by gemm.h, attention by attention.h, all on one stream, which the host does not wait for
// but in read() and finish(). Members, shapes and meaning are those of cpu/ops.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "parser/catalog/model_shape.h"
#include "runner/cpu/op_profile.h"
#include "runner/cuda/attention.h"
#include "runner/cuda/device.h"
#include "runner/cuda/device_profile.h"
#include "runner/cuda/fp8_copy.h"
#include "runner/cuda/gemm.h"
#include "runner/cuda/host_staging.h"
#include "runner/cuda/memory_pool.h"
#include "runner/cuda/pass_graphs.h"
#include "runner/cuda/tensor.h"
#include "runner/kernels/adamw.h"
#include "runner/kernels/elementwise.h"
#include "runner/kernels/gradient_norm.h"
#include "runner/kernels/number.h"
#include "runner/operation/adamw_settings.h"
#include "runner/operation/attention_shape.h"
#include "runner/operation/fp8_scale.h"
#include "runner/operation/fp8_weight_use.h"
#include "runner/operation/rotary_frequencies.h"
#include "runner/operation/router_score.h"
#include "runner/operation/view.h"

namespace llmb::runner::cuda {

// T, of values: kernels::Bf16 or float. Made and used on the thread that chose the device.
template <typename T>
class Ops : public MemoryPool {
 public:
  using In = View<const T>;
  using Out = View<T>;
  using Statistics = View<const float>;
  using StatisticsOut = View<float>;
  using Gradients = View<float>;
  using Index = std::int32_t;
  using Indices = std::span<const Index>;
  using RowCounts = std::span<const std::int64_t>;  // on the host

  Ops() = default;
  ~Ops();

  // Memory and the host. `value` is zero but for float and Bf16.
  template <typename E>
  void fill(std::span<E> x, std::type_identity_t<E> value) {
    if constexpr (std::is_same_v<E, float> || std::is_same_v<E, kernels::Bf16>) {
      kernels::fill(kernels::to_float(value), kernels::Matrix<E>(x.data(), 1, std::ssize(x)),
                    stream());
    } else {
      fill_async(x.data(), static_cast<std::uint8_t>(value), x.size_bytes(), stream());
    }
  }
  template <typename E>
  void write(std::span<const E> host, std::span<E> to) {
    if (is_noting()) {
      throw std::logic_error("The host writes within a pass that is captured as a graph.");
    }
    staging_.write(host.data(), to.data(), host.size_bytes(), stream());
  }
  template <typename E>
  void copy_elements(std::span<const E> from, std::span<E> to) {
    copy_async(to.data(), from.data(), from.size_bytes(), CopyDirection::within_device, stream());
  }
  template <typename E>
  struct HostCopy {
    std::vector<E> elements;
    std::span<const E> values() const { return elements; }
  };
  template <typename E>
  HostCopy<std::remove_const_t<E>> read(std::span<E> from) {
    HostCopy<std::remove_const_t<E>> copy;
    copy.elements.resize(from.size());
    copy_async(copy.elements.data(), from.data(), from.size_bytes(), CopyDirection::to_host,
               stream());
    finish();
    return copy;
  }
  void finish() { synchronize(stream()); }
  int device_index() const { return current_device().index; }
  // GemmEngine::pin_plans of this rank's products.
  std::string pin_plans(const std::string& json) { return gemm_.pin_plans(json); }
  const TensorBytes& memory_meter() const { return tensor_bytes(); }

  // From the next step on. All passes of a step have run at fixed places before they may be graphs,
  // none is one while a profile is taken, and ranks that talk within their passes do the same.
  void run_passes(PassMode mode) {
    graph_use_.mode = graph_use_.why_none.empty() ? mode : PassMode::as_they_are;
  }
  bool keeps_places() const { return graph_use_.mode != PassMode::as_they_are; }
  const GraphUse& graph_use() const { return graph_use_; }
  // Whether the passes of the coming step, the first one with graphs, are still to be captured.
  bool are_graphs_due() const { return graph_use_.mode == PassMode::as_graphs && !has_prepared_; }
  // Lets `capture` prepare the passes of all stages; true where nothing was refused.
  bool prepare_graphs(const std::function<void()>& capture);
  // Passes run as they are from here on, because so many ranks were refused a capture.
  void give_up_graphs(int refused_ranks);
  using Passes = PassGraphs;
  Passes make_passes() { return {*this, graph_use_}; }

  // Of this stream's operations; an outer profiler collects meanwhile (profiler.h).
  void begin_profile() { profile_.begin(stream()); }
  cpu::OpTable end_profile() { return profile_.end(stream()); }
  DeviceProfile& profile() { return profile_; }

  void copy(In x, Out y);
  void add(In x, Out y);
  void sum(In a, In b, Out y);
  void add_sum(Statistics x, View<double> total);
  void add_gradients(std::span<const float> more, std::span<float> sum);

  void linear(In x, In weight, Out y);
  void linear_backward_input(In dy, In weight, Out dx);
  void linear_backward_weight(In x, In dy, Gradients dweight);
  void grouped_linear(RowCounts rows, In x, In weight, Out y);
  void grouped_linear_backward_input(RowCounts rows, In dy, In weight, Out dx);
  void grouped_linear_backward_weight(RowCounts rows, In x, In dy, Gradients dweight);
  // With rows of each expert that the host does not know: kernels/grouped_product.h.
  void grouped_linear(Indices rows, In x, In weight, Out y);
  void grouped_linear_backward_input(Indices rows, In dy, In weight, Out dx);
  void grouped_linear_backward_weight(Indices rows, In x, In dy, Gradients dweight);

  // In FP8: weights and inputs in E4M3, gradients in E5M2; in blocks all of them in E4M3. Rows of x
  // and dy may be none. Rows of the weight and of its transpose are padded to multiples of 16, or
  // to whole blocks; its own rows and columns are a multiple of 8, in blocks of 16.
  struct Fp8Input {
    In values;
    Fp8Scale scale;
  };
  // A weight as the products of a pass, or of a step, want it. Casting it replaces what it was.
  using Fp8Weight = Fp8Copies;
  void cast_fp8_weight(const Fp8Input& weight, Fp8WeightUse use, Fp8Weight& to);
  void fp8_linear(const Fp8Input& x, const Fp8Weight& weight, Out y);
  // For the two products of a backward pass; dx is overwritten, dweight added to.
  using Fp8Gradient = Fp8Copies;
  Fp8Gradient cast_fp8_gradient(const Fp8Input& dy);
  void fp8_linear_backward_input(const Fp8Gradient& dy, const Fp8Weight& weight, Out dx);
  void fp8_linear_backward_weight(const Fp8Input& x, const Fp8Gradient& dy, Gradients dweight);
  // Of experts, with rows of each that the host does not know; their weights lie one below the
  // other. Scales are those of all experts; not in blocks.
  void cast_fp8_experts(const Fp8Input& weights, std::int64_t experts, Fp8WeightUse use,
                        Fp8Weight& to);
  void fp8_linear(Indices rows, const Fp8Input& x, const Fp8Weight& weights, Out y);
  Fp8Gradient cast_fp8_gradient(Indices rows, const Fp8Input& dy);
  void fp8_linear_backward_input(Indices rows, const Fp8Gradient& dy, const Fp8Weight& weights,
                                 Out dx);
  void fp8_linear_backward_weight(Indices rows, const Fp8Input& x, const Fp8Gradient& dy,
                                  Gradients dweight);

  void rms_norm(In x, std::span<const T> weight, double epsilon, Out y, StatisticsOut scale);
  void rms_norm_backward(In x, std::span<const T> weight, Statistics scale, In dy, Out dx,
                         std::span<float> dweight);
  // sum = x + branch, normalized; and dx += the gradient that comes through the norm. A backend
  // that emulates narrow numbers has neither: it would round in between.
  void add_rms_norm(In x, In branch, std::span<const T> weight, double epsilon, Out sum, Out y,
                    StatisticsOut scale);
  void rms_norm_backward_add(In x, std::span<const T> weight, Statistics scale, In dy, Out dx,
                             std::span<float> dweight);
  void layer_norm_1p(In x, std::span<const T> weight, std::span<const T> bias, double epsilon,
                     Out y, StatisticsOut statistics);
  void layer_norm_1p_backward(In x, std::span<const T> weight, Statistics statistics, In dy, Out dx,
                              std::span<float> dweight, std::span<float> dbias);
  void add_layer_norm_1p(In x, In branch, std::span<const T> weight, std::span<const T> bias,
                         double epsilon, Out sum, Out y, StatisticsOut statistics);
  void layer_norm_1p_backward_add(In x, std::span<const T> weight, Statistics statistics, In dy,
                                  Out dx, std::span<float> dweight, std::span<float> dbias);

  void activation(parser::Activation kind, In x, Out y);
  void activation_backward(parser::Activation kind, In x, In dy, Out dx);

  void make_rope_table(RowCounts positions, const RotaryFrequencies& frequencies,
                       StatisticsOut table);
  void qkv_rope(const AttentionShape& shape, Statistics table, In qkv, Out q, Out k, Out v);
  void qkv_rope_backward(const AttentionShape& shape, Statistics table, Out dq, Out dk, In dv,
                         Out dqkv);

  // Makes what attention of these sizes is to have, before the first step; `keys` are rows.
  AttentionUse prepare_attention(const AttentionShape& shape, RowCounts positions,
                                 std::int64_t keys);
  void attention(const AttentionShape& shape, RowCounts on_host, Indices query_positions, In q,
                 In k, In v, Out o, StatisticsOut log_sum);
  void attention_backward(const AttentionShape& shape, RowCounts on_host, Indices query_positions,
                          In q, In k, In v, In o, Statistics log_sum, In d_o, Out dq, Out dk,
                          Out dv);

  void embedding(Indices tokens, std::int64_t first_token, In table, Out y);
  void embedding_backward(Indices tokens, std::int64_t first_token, In dy, Gradients dtable);

  void cross_entropy_whole(Out logits, Indices targets, double scale, StatisticsOut losses);
  void cross_entropy_maxima(In logits, Tensor<float>& local, StatisticsOut maxima);
  void cross_entropy_sums(In logits, const Tensor<float>& local, Statistics maxima, Indices targets,
                          std::int64_t first_token, StatisticsOut sums);
  void cross_entropy_losses(Statistics sums, StatisticsOut losses);
  void cross_entropy_backward(Out logits, Statistics maxima, Statistics sums, Indices targets,
                              std::int64_t first_token, double scale);

  void router_logits(In x, In weight, StatisticsOut logits);
  void router_logits_backward(In x, In weight, Statistics dlogits, Out dx, Gradients dweight);
  void router(RouterScore score, Statistics logits, StatisticsOut probabilities,
              View<Index> choices, StatisticsOut weights);
  void router_backward(RouterScore score, Statistics probabilities, View<const Index> choices,
                       Statistics weights, Statistics dweights, Statistics dprobability,
                       double dprobability_scale, StatisticsOut dlogits);
  void expert_load(Indices rows_of_expert, StatisticsOut tokens);
  void auxiliary_gradient(double coefficient, std::int64_t token_count, std::int64_t top_k,
                          Statistics tokens, StatisticsOut dprobability);
  void add_auxiliary_loss(Statistics probabilities, Statistics dprobability, View<double> total);

  void sort_by_expert(View<const Index> choices, std::span<Index> row_of_slot,
                      std::span<Index> rows_of_expert);
  void order_arrivals(Indices counts, std::span<Index> order, std::span<Index> rows_of_expert);
  void scatter_to_experts(Indices row_of_slot, Statistics weights, In x, Out rows);
  void combine_from_experts(Indices row_of_slot, Statistics weights, In rows, Out y);
  void dot_with_experts(Indices row_of_slot, In x, In rows, StatisticsOut dots);
  void take_rows(Indices order, In in, Out out);
  void put_rows(Indices order, In in, Out out);

  template <typename Stretch>
  void add_sum_of_squares(std::span<const Stretch> stretches, View<double> total) {
    std::vector<kernels::GradientSegment> segments;
    for (const Stretch& stretch : stretches) {
      segments.push_back({stretch.gradients.data(), std::ssize(stretch.gradients)});
    }
    add_squares(std::move(segments), total);
  }
  template <typename Stretch>
  void adamw(const AdamWSettings& settings, std::int64_t step, View<const double> norm_and_scale,
             std::span<const Stretch> stretches) {
    std::vector<kernels::AdamWSegment> segments;
    for (const Stretch& stretch : stretches) {
      kernels::AdamWSegment& segment = segments.emplace_back();
      segment.gradients = stretch.gradients.data();
      segment.parameters = stretch.master.data();
      segment.first_moments = stretch.first_moment.data();
      segment.second_moments = stretch.second_moment.data();
      segment.count = std::ssize(stretch.master);
      segment.decays = stretch.decays;
    }
    update(settings, step, norm_and_scale, std::move(segments));
  }
  void norm_and_clip(View<const double> sum_of_squares, double max_norm,
                     View<double> norm_and_scale);
  void cast_weights(std::span<const float> master, bool is_narrow, std::span<T> weights);

 private:
  void add_squares(std::vector<kernels::GradientSegment> segments, View<double> total);
  void update(const AdamWSettings& settings, std::int64_t step, View<const double> norm_and_scale,
              std::vector<kernels::AdamWSegment> segments);
  // x + branch where there is a branch; dx is the bypass too where it is added to.
  void rms_norm_of(In x, In branch, std::span<const T> weight, double epsilon, Out sum, Out y,
                   StatisticsOut scale);
  void rms_norm_gradient(In x, std::span<const T> weight, Statistics scale, In dy, In bypass,
                         Out dx, std::span<float> dweight);
  void layer_norm_1p_of(In x, In branch, std::span<const T> weight, std::span<const T> bias,
                        double epsilon, Out sum, Out y, StatisticsOut statistics);
  void layer_norm_1p_gradient(In x, std::span<const T> weight, Statistics statistics, In dy,
                              In bypass, Out dx, std::span<float> dweight, std::span<float> dbias);
  // The vendor's attention for these sizes, made where they were not prepared.
  Attention& attention_of(const AttentionShape& shape, RowCounts positions, std::int64_t keys);
  // x in fp32: itself, or its copy in `storage`.
  Statistics widened(In x, Tensor<float>& storage);
  template <typename Segment>
  Array<std::byte> on_device(std::span<const Segment> segments);

  OpRange range(const char* name) { return {profile_, name, stream()}; }
  // The operation's product; of its memory, what it reads or writes once each.
  void multiply(const Gemm& gemm);
  template <typename... Views>
  void count_moved(const Views&... views) {
    if (!profile_.is_counting()) return;
    profile_.add_work({.bytes = (0.0 + ... + static_cast<double>(views.values().size_bytes()))});
  }
  template <typename Copies>
  void count_cast(In from, const Copies& to) {
    if (!profile_.is_counting()) return;
    count_moved(from);
    profile_.add_work(
        {.bytes = static_cast<double>(to.as_it_lies.bytes() + to.transposed.bytes())});
  }
  void count_attention(const AttentionShape& shape, RowCounts positions, double passes);

  GemmEngine gemm_;
  HostStaging staging_;
  DeviceProfile profile_;
  GraphUse graph_use_;
  bool has_prepared_ = false;
  std::vector<std::pair<AttentionSizes, std::unique_ptr<Attention>>> attentions_;
};

extern template class Ops<float>;
extern template class Ops<kernels::Bf16>;

}  // namespace llmb::runner::cuda
