// The double's attention: the own kernels, on the shim.
#include "runner/cuda/own_attention.h"

namespace llmb::runner::cuda {

struct Attention::State {
  OwnAttention own;
  std::string implementation;
};

Attention::Attention(const AttentionSizes& sizes, AttentionChoice choice) {
  check(sizes);
  state_ = std::make_unique<State>(
      State{OwnAttention(sizes), choice == AttentionChoice::own_kernels
                                     ? "own kernels: asked for"
                                     : "own kernels: the CPU's double has no cuDNN"});
}

Attention::~Attention() = default;

void Attention::forward(const AttentionForwardCall& call, Stream stream) {
  state_->own.forward(call, stream);
}

void Attention::backward(const AttentionBackwardCall& call, Stream stream) {
  state_->own.backward(call, stream);
}

std::int64_t Attention::workspace_bytes() const {
  return state_->own.workspace_bytes();
}

const std::string& Attention::implementation() const {
  return state_->implementation;
}

}  // namespace llmb::runner::cuda
