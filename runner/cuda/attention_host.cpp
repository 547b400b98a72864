// The double's attention: the own kernels, on the shim.
#include "runner/cuda/host_device.h"
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

std::int64_t Attention::workspace_bytes(const AttentionForwardCall& /*call*/) {
  return 0;
}

std::int64_t Attention::workspace_bytes(const AttentionBackwardCall& /*call*/) {
  return workspace_bytes_max();
}

std::int64_t Attention::workspace_bytes_max() const {
  return state_->own.workspace_bytes() + host_devices().attention_workspace_bytes;
}

void Attention::forward(const AttentionForwardCall& call, std::byte* /*workspace*/, Stream stream) {
  state_->own.forward(call, stream);
}

void Attention::backward(const AttentionBackwardCall& call, std::byte* workspace, Stream stream) {
  state_->own.backward(call, workspace, stream);
}

const std::string& Attention::implementation() const {
  return state_->implementation;
}

}  // namespace llmb::runner::cuda
