// Ops: the operations that a transformer is written over, as the CPU has them. A backend is such a
// handle with the same members, the same shapes and the same meaning to the letter, over its own
// memory. Operations end in the order in which they are called, but a device's may come back before
// they have ended: only read() and finish() wait. On the CPU all are done when they come back.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "runner/cpu/activation.h"
#include "runner/cpu/adamw.h"
#include "runner/cpu/attention.h"
#include "runner/cpu/cross_entropy.h"
#include "runner/cpu/elementwise.h"
#include "runner/cpu/embedding.h"
#include "runner/cpu/expert_rows.h"
#include "runner/cpu/linear.h"
#include "runner/cpu/norm.h"
#include "runner/cpu/op_profile.h"
#include "runner/cpu/qkv_heads.h"
#include "runner/cpu/quantize.h"
#include "runner/cpu/rope.h"
#include "runner/cpu/router.h"
#include "runner/cpu/row_order.h"
#include "runner/cpu/tensor.h"
#include "runner/operation/attention_pieces.h"
#include "runner/operation/pass_key.h"

namespace llmb::runner::cpu {

// T, of everything that is no index: float, or double for checks. Views and spans are of the
// backend's memory; what an operation writes is overwritten where nothing else is said.
template <typename T>
class Ops : public Memory {
 public:
  using In = View<const T>;
  using Out = View<T>;
  using Index = std::int64_t;
  using Indices = std::span<const Index>;
  using RowCounts = std::span<const std::int64_t>;  // on the host

  // Memory and the host.
  template <typename E>
  void fill(std::span<E> x, std::type_identity_t<E> value) {
    std::fill(x.begin(), x.end(), value);
  }
  template <typename E>
  void write(std::span<const E> host, std::span<E> to) {
    std::copy(host.begin(), host.end(), to.begin());
  }
  template <typename E>
  void copy_elements(std::span<const E> from, std::span<E> to) {
    std::copy(from.begin(), from.end(), to.begin());
  }
  // What `from` holds once everything before has ended: something with values() on the host, as
  // long as `from` stays as it is.
  template <typename E>
  struct HostCopy {
    std::span<const E> elements;
    std::span<const E> values() const { return elements; }
  };
  template <typename E>
  HostCopy<std::remove_const_t<E>> read(std::span<E> from) {
    return {from};
  }
  // Waits until everything before has ended.
  void finish() {}
  // Runs a stage's passes of one direction; a device may capture the first of those that are alike,
  // and repeat it. What a pass does on the host is then done once, so it is what it was: which
  // memory holds what, and nothing that is counted or read. `groups` are those that it talks in.
  struct Passes {
    template <typename Groups, typename Pass>
    void run(const PassKey& /*key*/, const Groups& /*groups*/, const Pass& pass) {
      pass();
    }
    // For a later run(), of which it does nothing yet but what the host does.
    template <typename Groups, typename Pass>
    void prepare(const PassKey& /*key*/, const Groups& /*groups*/, const Pass& /*pass*/) {}
    void forget() {}
  };
  Passes make_passes() { return {}; }
  // Whether what passes work on is to stay where it is from one to the next.
  static constexpr bool keeps_places() { return false; }
  // Of this rank's tensors.
  const MemoryMeter& memory_meter() const { return cpu::memory_meter(); }

  // Which operations this thread spends its time in, from begin to end.
  void begin_profile() { begin_op_profile(); }
  OpTable end_profile() { return end_op_profile(); }

  // y = x; y += x; y = a + b; total (1, 1) += the sum of x
  void copy(In x, Out y) { Elementwise<T>::copy(x, y); }
  void add(In x, Out y) { Elementwise<T>::add(x, y); }
  void sum(In a, In b, Out y) { Elementwise<T>::sum(a, b, y); }
  void add_sum(In x, View<double> total) { Elementwise<T>::add_sum(x, total); }
  void add_gradients(std::span<const T> more, std::span<T> sum) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
  }

  // linear.h. Rows of each expert are given on the host; a backend whose memory the host does not
  // see has the three grouped products with Indices in their place, too.
  void linear(In x, In weight, Out y) { Linear<T>::forward(x, weight, y); }
  void linear_backward_input(In dy, In weight, Out dx) {
    Linear<T>::backward_input(dy, weight, dx);
  }
  void linear_backward_weight(In x, In dy, Out dweight) {
    Linear<T>::backward_weight(x, dy, dweight);
  }
  void grouped_linear(RowCounts rows, In x, In weight, Out y) {
    GroupedLinear<T>::forward(rows, x, weight, y);
  }
  void grouped_linear_backward_input(RowCounts rows, In dy, In weight, Out dx) {
    GroupedLinear<T>::backward_input(rows, dy, weight, dx);
  }
  void grouped_linear_backward_weight(RowCounts rows, In x, In dy, Out dweight) {
    GroupedLinear<T>::backward_weight(rows, x, dy, dweight);
  }

  // norm.h
  void rms_norm(In x, std::span<const T> weight, double epsilon, Out y, Out scale) {
    RmsNorm<T>::forward(x, weight, static_cast<T>(epsilon), y, scale);
  }
  void rms_norm_backward(In x, std::span<const T> weight, In scale, In dy, Out dx,
                         std::span<T> dweight) {
    RmsNorm<T>::backward(x, weight, scale, dy, dx, dweight);
  }
  void layer_norm_1p(In x, std::span<const T> weight, std::span<const T> bias, double epsilon,
                     Out y, Out statistics) {
    LayerNorm1p<T>::forward(x, weight, bias, static_cast<T>(epsilon), y, statistics);
  }
  void layer_norm_1p_backward(In x, std::span<const T> weight, In statistics, In dy, Out dx,
                              std::span<T> dweight, std::span<T> dbias) {
    LayerNorm1p<T>::backward(x, weight, statistics, dy, dx, dweight, dbias);
  }

  // activation.h
  void activation(parser::Activation kind, In x, Out y) {
    ActivationFunction<T>::forward(kind, x, y);
  }
  void activation_backward(parser::Activation kind, In x, In dy, Out dx) {
    ActivationFunction<T>::backward(kind, x, dy, dx);
  }

  // rope.h and qkv_heads.h: from the fused projection to q, k and v, of which q and k are turned,
  // and the way back for gradients, which uses up dq and dk. `positions` are on the host.
  void make_rope_table(RowCounts positions, const RotaryFrequencies& frequencies, Out table) {
    Rope<T>::make_table(positions, frequencies, table);
  }
  void qkv_rope(const AttentionShape& shape, In table, In qkv, Out q, Out k, Out v) {
    QkvHeads<T>::split(shape.group_count, qkv, q, k, v);
    Rope<T>::forward(table, shape.batch, shape.head_size, q);
    Rope<T>::forward(table, shape.batch, shape.head_size, k);
  }
  void qkv_rope_backward(const AttentionShape& shape, In table, Out dq, Out dk, In dv, Out dqkv) {
    Rope<T>::backward(table, shape.batch, shape.head_size, dq);
    Rope<T>::backward(table, shape.batch, shape.head_size, dk);
    QkvHeads<T>::join(shape.group_count, dq, dk, dv, dqkv);
  }

  // What the loops below need, they have.
  AttentionUse prepare_attention(const AttentionShape& /*shape*/, RowCounts /*positions*/,
                                 std::int64_t /*keys*/) {
    return {"loops of the CPU", 0};
  }
  // attention.h. The queries' positions are given on the host and where the backend reads them.
  void attention(const AttentionShape& shape, RowCounts /*on_host*/, Indices query_positions, In q,
                 In k, In v, Out o, Out log_sum) {
    Attention<T>::forward(shape, query_positions, q, k, v, o, log_sum);
  }
  void attention_backward(const AttentionShape& shape, RowCounts /*on_host*/,
                          Indices query_positions, In q, In k, In v, In o, In log_sum, In d_o,
                          Out dq, Out dk, Out dv) {
    Attention<T>::backward(shape, query_positions, q, k, v, o, log_sum, d_o, dq, dk, dv);
  }

  // embedding.h
  void embedding(Indices tokens, Index first_token, In table, Out y) {
    Embedding<T>::forward(tokens, first_token, table, y);
  }
  void embedding_backward(Indices tokens, Index first_token, In dy, Out dtable) {
    Embedding<T>::backward(tokens, first_token, dy, dtable);
  }

  // cross_entropy.h. Where the whole vocabulary is here: losses (n, 1), and logits (n, v) become
  // their gradients, in one operation.
  void cross_entropy_whole(Out logits, Indices targets, double scale, Out losses) {
    Tensor<T> local;
    Tensor<T> maxima(logits.rows, 1);
    Tensor<T> sums(logits.rows, 2);
    cross_entropy_maxima(logits, local, maxima);
    cross_entropy_sums(logits, local, maxima, targets, 0, sums);
    cross_entropy_losses(sums, losses);
    cross_entropy_backward(logits, maxima, sums, targets, 0, scale);
  }
  // Over ranks. maxima and losses (n, 1); what cross_entropy_maxima leaves in `local` is for
  // cross_entropy_sums of the same logits, and for no one else.
  void cross_entropy_maxima(In logits, Tensor<T>& /*local*/, Out maxima) {
    CrossEntropy<T>::local_max(logits, maxima.values());
  }
  void cross_entropy_sums(In logits, const Tensor<T>& /*local*/, In maxima, Indices targets,
                          Index first_token, Out sums) {
    CrossEntropy<T>::local_sums(logits, maxima.values(), targets, first_token, sums);
  }
  void cross_entropy_losses(In sums, Out losses) { CrossEntropy<T>::losses(sums, losses.values()); }
  void cross_entropy_backward(Out logits, In maxima, In sums, Indices targets, Index first_token,
                              double scale) {
    CrossEntropy<T>::backward(logits, maxima.values(), sums, targets, first_token,
                              static_cast<T>(scale));
  }

  // router.h. Logits are wide whatever else is narrow. backward adds to dx and dweight.
  void router_logits(In x, In weight, Out logits) { Linear<T>::forward(x, weight, logits); }
  void router_logits_backward(In x, In weight, In dlogits, Out dx, Out dweight) {
    Linear<T>::backward_weight(x, dlogits, dweight);
    Linear<T>::backward_input(dlogits, weight, dx, true);
  }
  void router(RouterScore score, In logits, Out probabilities, View<Index> choices, Out weights) {
    Router<T>::forward(score, logits, probabilities, choices, weights);
  }
  // dprobability (1, experts) is multiplied by its scale.
  void router_backward(RouterScore score, In probabilities, View<const Index> choices, In weights,
                       In dweights, In dprobability, double dprobability_scale, Out dlogits) {
    Tensor<T> scaled(1, dprobability.cols);
    Elementwise<T>::scale(static_cast<T>(dprobability_scale), dprobability, scaled);
    Router<T>::backward(score, probabilities, choices, weights, dweights, scaled.values(), dlogits);
  }
  // rows_of_expert -> tokens (1, experts), as numbers that ranks can add up
  void expert_load(Indices rows_of_expert, Out tokens) {
    std::copy(rows_of_expert.begin(), rows_of_expert.end(), tokens.data);
  }
  void auxiliary_gradient(double coefficient, std::int64_t token_count, std::int64_t top_k,
                          In tokens, Out dprobability) {
    AuxiliaryLoss<T>::gradient(static_cast<T>(coefficient), token_count, top_k, tokens.values(),
                               dprobability.values());
  }
  void add_auxiliary_loss(In probabilities, In dprobability, View<double> total) {
    AuxiliaryLoss<T>::add_value(probabilities, dprobability.values(), total);
  }

  // expert_rows.h and row_order.h
  void sort_by_expert(View<const Index> choices, std::span<Index> row_of_slot,
                      std::span<Index> rows_of_expert) {
    cpu::sort_by_expert(choices, row_of_slot, rows_of_expert);
  }
  void order_arrivals(Indices counts, std::span<Index> order, std::span<Index> rows_of_expert) {
    cpu::order_arrivals(counts, order, rows_of_expert);
  }
  void scatter_to_experts(Indices row_of_slot, In weights, In x, Out rows) {
    ExpertRows<T>::scatter(row_of_slot, weights, x, rows);
  }
  void combine_from_experts(Indices row_of_slot, In weights, In rows, Out y) {
    ExpertRows<T>::combine(row_of_slot, weights, rows, y);
  }
  void dot_with_experts(Indices row_of_slot, In x, In rows, Out dots) {
    ExpertRows<T>::dot(row_of_slot, x, rows, dots);
  }
  void take_rows(Indices order, In in, Out out) { RowOrder<T>::take(order, in, out); }
  void put_rows(Indices order, In in, Out out) { RowOrder<T>::put(order, in, out); }

  // adamw.h. A stretch has gradients, master, first_moment and second_moment, and whether it
  // decays; `step` counts from 1.
  template <typename Stretch>
  void add_sum_of_squares(std::span<const Stretch> stretches, View<double> total) {
    for (const Stretch& stretch : stretches) {
      *total.data += AdamW<T>::sum_of_squares(stretch.gradients);
    }
  }
  // norm_and_scale (1, 2): the root of the sum, and what clips gradients of this norm; a scale of
  // NaN where the norm is no number, which keeps adamw from changing anything.
  void norm_and_clip(View<const double> sum_of_squares, double max_norm,
                     View<double> norm_and_scale) {
    const double norm = std::sqrt(*sum_of_squares.data);
    norm_and_scale.data[0] = norm;
    norm_and_scale.data[1] =
        std::isfinite(norm) ? clip_scale(norm, max_norm) : std::numeric_limits<double>::quiet_NaN();
  }
  template <typename Stretch>
  void adamw(const AdamWSettings& settings, std::int64_t step, View<const double> norm_and_scale,
             std::span<const Stretch> stretches) {
    const double gradient_scale = norm_and_scale.data[1];
    if (std::isnan(gradient_scale)) return;
    for (const Stretch& stretch : stretches) {
      AdamWSettings own = settings;
      if (!stretch.decays) own.weight_decay = 0;
      AdamW<T>::update(own, step, gradient_scale, stretch.gradients, stretch.master,
                       stretch.first_moment, stretch.second_moment);
    }
  }
  // The weights that the model computes with; `is_narrow`: as BF16 keeps them.
  void cast_weights(std::span<const T> master, bool is_narrow, std::span<T> weights) {
    std::copy(master.begin(), master.end(), weights.begin());
    if (is_narrow) round_to_bf16({weights.data(), 1, static_cast<Index>(weights.size())});
  }

  // quantize.h: what narrow formats leave of a number that stays wide, in place and from x to y.
  void round_to_bf16(Out x) { Quantize<T>::to_bf16(x); }
  void round_to_fp8(In x, Fp8Format format, double largest, Out y) {
    Quantize<T>::to_fp8(x, format, fp8_scale(largest, format), y);
  }
  void round_to_mxfp8_along_rows(In x, Out y) { Quantize<T>::to_mxfp8_along_rows(x, y); }
  void round_to_mxfp8_down_columns(In x, Out y) { Quantize<T>::to_mxfp8_down_columns(x, y); }
  double absolute_max(In x) { return Quantize<T>::absolute_max(x); }
};

}  // namespace llmb::runner::cpu
