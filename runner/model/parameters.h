// The model's parameters: name, shape, and which axis tensor and expert parallelism cut. A rank's
// part is a contiguous piece of each cut axis, so that checkpoints and tests can cut and join whole
// tensors without knowing the model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/model/spec.h"

namespace llmb::runner {

enum class Initialization { normal, scaled_normal, ones, zeros };

struct Parameter {
  // "layers.3.attention.qkv.weight"; layers count from 0 over the whole model.
  std::string name;
  std::vector<std::int64_t> shape;  // of the whole tensor, row-major
  // Cut into tp pieces (an expert's: etp pieces); nothing: every rank of the group has it whole.
  std::optional<std::size_t> tensor_axis;
  // Cut into ep pieces; set for the experts' parameters only.
  std::optional<std::size_t> expert_axis;
  // -1: before the layers (embedding); layer_count: after them (final norm, head).
  std::int64_t layer = 0;
  Initialization initialization = Initialization::normal;

  bool is_expert() const { return expert_axis.has_value(); }
  // Megatron's rule: matrices decay, norms and biases do not.
  bool has_weight_decay() const { return shape.size() > 1; }
  std::int64_t element_count() const;
};

// Every parameter, in the order of the forward pass.
//
//   embedding.weight               [vocabulary, hidden]                 tp cuts 0
//   layers.L.input_norm.weight     [hidden]      (.bias with LayerNorm1p)
//   layers.L.attention.qkv.weight  [groups * (heads/groups + 2) * head, hidden]  tp cuts 0: for
//                                  every key/value head its query heads, then key, then value
//   layers.L.attention.out.weight  [hidden, heads * head]               tp cuts 1
//   layers.L.mlp_norm.weight       [hidden]      (.bias with LayerNorm1p)
//   layers.L.mlp.fc1.weight        [2, ffn, hidden], gate then up       tp cuts 1
//                                  [ffn, hidden] where nothing gates    tp cuts 0
//   layers.L.mlp.fc2.weight        [hidden, ffn]                        tp cuts 1
//   layers.L.router.weight         [experts, hidden]
//   layers.L.experts.fc1.weight    [experts, 2, ffn, hidden]            ep cuts 0, etp cuts 2
//                                  [experts, ffn, hidden] ungated       ep cuts 0, etp cuts 1
//   layers.L.experts.fc2.weight    [experts, hidden, ffn]               ep cuts 0, etp cuts 2
//   layers.L.shared_expert.fc1.weight, .fc2.weight: as mlp's
//   final_norm.weight              [hidden]      (.bias with LayerNorm1p)
//   head.weight                    [vocabulary, hidden]                 tp cuts 0; not where tied
std::vector<Parameter> model_parameters(const ModelSpec& spec);

// Those of one layer, in the same order.
std::vector<Parameter> layer_parameters(const ModelSpec& spec, std::int64_t layer);

// The shape of one rank's part. Throws std::invalid_argument where an axis does not divide, which
// check_layout refuses before.
std::vector<std::int64_t> local_shape(const Parameter& parameter, std::int64_t tp, std::int64_t etp,
                                      std::int64_t ep);

// A block of so many elements with its padding: each of `sharers` ranks has as large a share, which
// begins at a multiple of 64 elements. So libraries and kernels move 16 bytes at a time.
std::int64_t padded_block_size(std::int64_t element_count, std::int64_t sharers);

}  // namespace llmb::runner
