#include "runner/model/parameters.h"

#include <fmt/format.h>

#include <functional>
#include <iterator>
#include <numeric>
#include <stdexcept>

namespace llmb::runner {
namespace {

using Shape = std::vector<std::int64_t>;

// Collects parameters under one prefix.
class ParameterList {
 public:
  ParameterList(const ModelSpec& spec, std::int64_t layer, std::string prefix)
      : spec_(spec), layer_(layer), prefix_(std::move(prefix)) {}

  Parameter& add(const std::string& name, Shape shape,
                 Initialization initialization = Initialization::normal) {
    Parameter parameter;
    parameter.name = prefix_ + name;
    parameter.shape = std::move(shape);
    parameter.layer = layer_;
    parameter.initialization = initialization;
    return list_.emplace_back(std::move(parameter));
  }

  void add_norm(const std::string& name) {
    // LayerNorm1p's gain is 1 + weight, so that decay and rounding act around one.
    const bool around_one = spec_.norm_has_bias();
    add(name + ".weight", {spec_.shape.hidden_size},
        around_one ? Initialization::zeros : Initialization::ones);
    if (spec_.norm_has_bias()) {
      add(name + ".bias", {spec_.shape.hidden_size}, Initialization::zeros);
    }
  }

  // expert_count 0: a plain MLP.
  void add_mlp(const std::string& name, std::int64_t width, std::int64_t expert_count) {
    const std::int64_t hidden = spec_.shape.hidden_size;
    Shape fc1 = spec_.is_gated() ? Shape{2, width, hidden} : Shape{width, hidden};
    Shape fc2 = {hidden, width};
    std::size_t fc1_axis = spec_.is_gated() ? 1 : 0;
    std::size_t fc2_axis = 1;
    std::optional<std::size_t> expert_axis;
    if (expert_count > 0) {
      fc1.insert(fc1.begin(), expert_count);
      fc2.insert(fc2.begin(), expert_count);
      ++fc1_axis;
      ++fc2_axis;
      expert_axis = 0;
    }
    Parameter& up = add(name + ".fc1.weight", std::move(fc1));
    up.tensor_axis = fc1_axis;
    up.expert_axis = expert_axis;
    Parameter& down = add(name + ".fc2.weight", std::move(fc2), Initialization::scaled_normal);
    down.tensor_axis = fc2_axis;
    down.expert_axis = expert_axis;
  }

  std::vector<Parameter> take() { return std::move(list_); }

 private:
  const ModelSpec& spec_;
  std::int64_t layer_;
  std::string prefix_;
  std::vector<Parameter> list_;
};

}  // namespace

std::int64_t Parameter::element_count() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::vector<Parameter> layer_parameters(const ModelSpec& spec, std::int64_t layer) {
  const ModelShape& shape = spec.shape;
  ParameterList list(spec, layer, fmt::format("layers.{}.", layer));
  list.add_norm("input_norm");
  list.add("attention.qkv.weight",
           {spec.query_size() + 2 * spec.key_value_size(), shape.hidden_size})
      .tensor_axis = 0;
  list.add("attention.out.weight", {shape.hidden_size, spec.query_size()},
           Initialization::scaled_normal)
      .tensor_axis = 1;
  list.add_norm("mlp_norm");
  if (!spec.is_moe_layer(layer)) {
    list.add_mlp("mlp", shape.ffn_hidden_size, 0);
    return list.take();
  }
  list.add("router.weight", {shape.expert_count, shape.hidden_size});
  list.add_mlp("experts", shape.expert_ffn_hidden_size, shape.expert_count);
  if (shape.shared_expert_ffn_hidden_size > 0) {
    list.add_mlp("shared_expert", shape.shared_expert_ffn_hidden_size, 0);
  }
  return list.take();
}

std::vector<Parameter> model_parameters(const ModelSpec& spec) {
  const ModelShape& shape = spec.shape;
  ParameterList before(spec, -1, "");
  before.add("embedding.weight", {shape.vocabulary_size, shape.hidden_size}).tensor_axis = 0;
  std::vector<Parameter> all = before.take();
  const auto append = [&all](std::vector<Parameter> more) {
    std::move(more.begin(), more.end(), std::back_inserter(all));
  };
  for (std::int64_t layer = 0; layer < shape.layer_count; ++layer) {
    append(layer_parameters(spec, layer));
  }
  ParameterList after(spec, shape.layer_count, "");
  after.add_norm("final_norm");
  if (!shape.tied_embeddings) {
    after.add("head.weight", {shape.vocabulary_size, shape.hidden_size}).tensor_axis = 0;
  }
  append(after.take());
  return all;
}

std::vector<std::int64_t> local_shape(const Parameter& parameter, std::int64_t tp, std::int64_t etp,
                                      std::int64_t ep) {
  std::vector<std::int64_t> shape = parameter.shape;
  const auto cut = [&](std::size_t axis, std::int64_t pieces) {
    if (shape[axis] % pieces != 0) {
      throw std::invalid_argument(
          fmt::format("{}: {} does not divide into {}", parameter.name, shape[axis], pieces));
    }
    shape[axis] /= pieces;
  };
  if (parameter.tensor_axis) cut(*parameter.tensor_axis, parameter.is_expert() ? etp : tp);
  if (parameter.expert_axis) cut(*parameter.expert_axis, ep);
  return shape;
}

std::int64_t padded_block_size(std::int64_t element_count, std::int64_t sharers) {
  const std::int64_t multiple = sharers * 64;
  return (element_count + multiple - 1) / multiple * multiple;
}

}  // namespace llmb::runner
