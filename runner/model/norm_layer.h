// NormLayer: the model's normalization, whichever it is, with its parameters. Works on a
// sequence-parallel piece; its parameters' gradients are this piece's part.
#pragma once

#include <string>

#include "runner/model/linear_layer.h"
#include "runner/model/stage_context.h"

namespace llmb::runner {

template <typename Ops>
class NormLayer {
 public:
  using Element = typename Ops::Element;

  // `name` as in "layers.3.input_norm".
  NormLayer(const StageContext& context, const ParameterStore<Element>& store,
            const std::string& name)
      : precision_(context.precision),
        epsilon_(static_cast<Element>(context.spec.norm_epsilon)),
        weight_(store.at(name + ".weight")) {
    if (context.spec.norm_has_bias()) bias_ = Weight<Element>(store.at(name + ".bias"));
  }

  // x (n, h) -> y (n, h), statistics for backward
  void forward(typename Ops::ConstView x, typename Ops::Tensor& y,
               typename Ops::Tensor& statistics) const {
    y.resize(x.rows, x.cols);
    statistics.resize(x.rows, has_bias() ? 2 : 1);
    if (has_bias()) {
      Ops::LayerNorm1p::forward(x, weight_.value(), bias_.value(), epsilon_, y, statistics);
    } else {
      Ops::RmsNorm::forward(x, weight_.value(), epsilon_, y, statistics);
    }
    keep<Ops>(precision_, y);
  }

  // dy (n, h) -> dx (n, h), overwritten
  void backward(typename Ops::ConstView x, const typename Ops::Tensor& statistics,
                typename Ops::ConstView dy, typename Ops::View dx) const {
    if (has_bias()) {
      Ops::LayerNorm1p::backward(x, weight_.value(), statistics, dy, dx, weight_.gradient(),
                                 bias_.gradient());
    } else {
      Ops::RmsNorm::backward(x, weight_.value(), statistics, dy, dx, weight_.gradient());
    }
    keep<Ops>(precision_, dx);
  }

 private:
  bool has_bias() const { return bias_.parameter != nullptr; }

  Precision precision_;
  Element epsilon_;
  Weight<Element> weight_;
  Weight<Element> bias_;
};

}  // namespace llmb::runner
