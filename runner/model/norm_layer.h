// NormLayer: the model's normalization, whichever it is, with its parameters. Works on a
// sequence-parallel piece; its parameters' gradients are this piece's part.
#pragma once

#include <string>

#include "runner/model/linear_layer.h"
#include "runner/model/stage_context.h"

namespace llmb::runner {

template <typename Backend>
class NormLayer {
 public:
  // `name` as in "layers.3.input_norm".
  NormLayer(const StageContext<Backend>& context, const ParameterStore<Backend>& store,
            const std::string& name)
      : ops_(context.ops),
        precision_(context.precision),
        epsilon_(context.spec.norm_epsilon),
        weight_(store.at(name + ".weight")) {
    if (context.spec.norm_has_bias()) bias_ = Weight<Backend>(store.at(name + ".bias"));
  }

  // x (n, h) -> y (n, h), statistics for backward
  void forward(ConstValueView<Backend> x, ValueTensor<Backend>& y,
               StatisticTensor<Backend>& statistics) const {
    y.resize(ops_, x.rows, x.cols);
    statistics.resize(ops_, x.rows, has_bias() ? 2 : 1);
    if (has_bias()) {
      ops_.layer_norm_1p(x, weight_.values(), bias_.values(), epsilon_, y, statistics);
    } else {
      ops_.rms_norm(x, weight_.values(), epsilon_, y, statistics);
    }
    keep<Backend>(ops_, precision_, y);
  }

  // sum = x + branch (n, h), and forward of that
  void forward_sum(ConstValueView<Backend> x, ConstValueView<Backend> branch,
                   ValueTensor<Backend>& sum, ValueTensor<Backend>& y,
                   StatisticTensor<Backend>& statistics) const {
    sum.resize(ops_, x.rows, x.cols);
    if constexpr (Backend::kEmulatesNarrow) {
      ops_.sum(x, branch, sum);
      keep<Backend>(ops_, precision_, sum);
      forward(sum, y, statistics);
    } else {
      y.resize(ops_, x.rows, x.cols);
      statistics.resize(ops_, x.rows, has_bias() ? 2 : 1);
      if (has_bias()) {
        ops_.add_layer_norm_1p(x, branch, weight_.values(), bias_.values(), epsilon_, sum, y,
                               statistics);
      } else {
        ops_.add_rms_norm(x, branch, weight_.values(), epsilon_, sum, y, statistics);
      }
    }
  }

  // dx (n, h) += the gradient of dy (n, h), where dx is what goes past the norm
  void backward_add(ConstValueView<Backend> x, const StatisticTensor<Backend>& statistics,
                    ConstValueView<Backend> dy, ValueView<Backend> dx) const {
    if constexpr (Backend::kEmulatesNarrow) {
      ValueTensor<Backend> through(ops_, dx.rows, dx.cols);
      backward(x, statistics, dy, through);
      ops_.add(through, dx);
      keep<Backend>(ops_, precision_, dx);
    } else if (has_bias()) {
      ops_.layer_norm_1p_backward_add(x, weight_.values(), statistics, dy, dx, weight_.gradients(),
                                      bias_.gradients());
    } else {
      ops_.rms_norm_backward_add(x, weight_.values(), statistics, dy, dx, weight_.gradients());
    }
  }

  // dy (n, h) -> dx (n, h), overwritten
  void backward(ConstValueView<Backend> x, const StatisticTensor<Backend>& statistics,
                ConstValueView<Backend> dy, ValueView<Backend> dx) const {
    if (has_bias()) {
      ops_.layer_norm_1p_backward(x, weight_.values(), statistics, dy, dx, weight_.gradients(),
                                  bias_.gradients());
    } else {
      ops_.rms_norm_backward(x, weight_.values(), statistics, dy, dx, weight_.gradients());
    }
    keep<Backend>(ops_, precision_, dx);
  }

 private:
  bool has_bias() const { return bias_.parameter != nullptr; }

  typename Backend::Ops& ops_;
  Precision precision_;
  double epsilon_;
  Weight<Backend> weight_;
  Weight<Backend> bias_;
};

}  // namespace llmb::runner
