// Attention by cuDNN's graphs where they serve the sizes, else by the own kernels. A graph is for
// one piece of queries; keys that no piece reaches have no gradient.
#include <cudnn.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "runner/cuda/cudnn_attention.h"
#include "runner/cuda/device_error.h"
#include "runner/cuda/own_attention.h"
#include "runner/cuda/vendor_functions.h"
#include "runner/kernels/elementwise.h"

namespace llmb::runner::cuda {
namespace {

using kernels::Bf16;

CudnnAttentionShape shape_of(const AttentionSizes& sizes, const AttentionPiece& piece,
                             const AttentionForwardCall& call) {
  CudnnAttentionShape shape;
  shape.batch = sizes.batch;
  shape.head_count = sizes.head_count;
  shape.group_count = sizes.group_count;
  shape.head_size = sizes.head_size;
  shape.query_count = piece.query_count;
  shape.key_count = piece.key_count;
  shape.q_stride = call.q.stride;
  shape.k_stride = call.k.stride;
  shape.v_stride = call.v.stride;
  shape.o_stride = call.o.stride;
  return shape;
}

}  // namespace

struct Attention::State {
  AttentionSizes sizes;
  std::vector<AttentionPiece> pieces;
  std::unique_ptr<OwnAttention> own;  // null where cuDNN serves
  std::string implementation;
  cudnnHandle_t handle = nullptr;
  std::int64_t bytes_max = 0;
  // By shape and strides, which the first call brings.
  std::map<CudnnAttentionShape, CudnnAttentionForward> forward;
  std::map<CudnnAttentionShape, CudnnAttentionBackward> backward;

  ~State() {
    if (handle) cudnn().cudnnDestroy(handle);
  }

  void open_cudnn() {
    check(cudnn().cudnnCreate(&handle), "start cuDNN");
    bytes_max = std::max(bytes_of(packed_forward()), bytes_of(packed_backward()));
    const std::size_t version = cudnn().cudnnGetVersion();
    implementation =
        fmt::format("cuDNN {}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
  }

  const CudnnAttentionForward& forward_plan(const CudnnAttentionShape& shape) {
    const auto known = forward.find(shape);
    if (known != forward.end()) return known->second;
    return forward.try_emplace(shape, shape, CudnnTarget{handle, ""}).first->second;
  }
  const CudnnAttentionBackward& backward_plan(const CudnnAttentionShape& shape) {
    const auto known = backward.find(shape);
    if (known != backward.end()) return known->second;
    return backward.try_emplace(shape, shape, CudnnTarget{handle, ""}).first->second;
  }

  // Calls with matrices that lie packed, nowhere.
  AttentionForwardCall packed_forward() const {
    AttentionForwardCall call;
    call.q.stride = call.o.stride = sizes.head_count * sizes.head_size;
    call.k.stride = call.v.stride = sizes.group_count * sizes.head_size;
    return call;
  }
  AttentionBackwardCall packed_backward() const {
    AttentionBackwardCall call;
    call.q.stride = call.o.stride = call.d_o.stride = call.dq.stride =
        sizes.head_count * sizes.head_size;
    call.k.stride = call.v.stride = call.dk.stride = call.dv.stride =
        sizes.group_count * sizes.head_size;
    return call;
  }

  const CudnnAttentionForward& plan_of(const AttentionForwardCall& call,
                                       const AttentionPiece& piece) {
    return forward_plan(shape_of(sizes, piece, call));
  }
  // Of several pieces, dk and dv are summed from packed ones.
  const CudnnAttentionBackward& plan_of(const AttentionBackwardCall& call,
                                        const AttentionPiece& piece) {
    CudnnAttentionShape shape = shape_of(
        sizes, piece, {.q = call.q, .k = call.k, .v = call.v, .o = {nullptr, 0, 0, call.o.stride}});
    const std::int64_t packed = sizes.group_count * sizes.head_size;
    shape.d_o_stride = call.d_o.stride;
    shape.dq_stride = call.dq.stride;
    shape.dk_stride = pieces.size() > 1 ? packed : call.dk.stride;
    shape.dv_stride = pieces.size() > 1 ? packed : call.dv.stride;
    return backward_plan(shape);
  }

  std::int64_t piece_gradients() const {
    return piece_gradient_bytes(sizes.shape(), pieces, sizes.key_count);
  }
  template <typename Call>
  std::int64_t bytes_of_pieces(const Call& call) {
    std::int64_t most = 0;
    for (const AttentionPiece& piece : pieces) {
      most = std::max(most, plan_of(call, piece).workspace_bytes());
    }
    return most;
  }
  std::int64_t bytes_of(const AttentionForwardCall& call) { return bytes_of_pieces(call); }
  std::int64_t bytes_of(const AttentionBackwardCall& call) {
    return piece_gradients() + bytes_of_pieces(call);
  }

  template <typename Matrix>
  auto* query_rows(const Matrix& matrix, const AttentionPiece& piece) const {
    return matrix.row(piece.first_row * sizes.batch);
  }
  template <typename Matrix>
  auto* key_rows(const Matrix& matrix, const AttentionPiece& piece) const {
    return matrix.row(piece.first_key * sizes.batch);
  }
  std::int64_t first_statistic(const AttentionPiece& piece) const {
    return piece.first_row * sizes.batch * sizes.head_count;
  }

  void run_forward(const AttentionForwardCall& call, std::byte* workspace, Stream stream) {
    check(cudnn().cudnnSetStream(handle, stream), "put cuDNN on a stream");
    for (const AttentionPiece& piece : pieces) {
      plan_of(call, piece)
          .run(handle, query_rows(call.q, piece), key_rows(call.k, piece), key_rows(call.v, piece),
               query_rows(call.o, piece), call.statistics + first_statistic(piece), workspace);
    }
  }

  void run_backward(const AttentionBackwardCall& call, std::byte* workspace, Stream stream) {
    check(cudnn().cudnnSetStream(handle, stream), "put cuDNN on a stream");
    const bool is_direct = pieces.size() == 1 && pieces[0].key_count == sizes.key_count;
    if (!is_direct) {
      kernels::fill<Bf16>(0, call.dk, stream);
      kernels::fill<Bf16>(0, call.dv, stream);
    }
    for (const AttentionPiece& piece : pieces) {
      const std::int64_t cols = sizes.group_count * sizes.head_size;
      const std::int64_t rows = piece.key_count * sizes.batch;
      Bf16Matrix dk(key_rows(call.dk, piece), rows, cols, call.dk.stride);
      Bf16Matrix dv(key_rows(call.dv, piece), rows, cols, call.dv.stride);
      const Bf16Matrix dk_all = dk;
      const Bf16Matrix dv_all = dv;
      if (pieces.size() > 1) {
        dk = Bf16Matrix(reinterpret_cast<Bf16*>(workspace), rows, cols);
        dv = Bf16Matrix(reinterpret_cast<Bf16*>(workspace + piece_gradients() / 2), rows, cols);
      }
      plan_of(call, piece)
          .run(handle,
               {query_rows(call.q, piece), key_rows(call.k, piece), key_rows(call.v, piece),
                query_rows(call.o, piece), query_rows(call.d_o, piece),
                call.statistics + first_statistic(piece), query_rows(call.dq, piece), dk.data,
                dv.data},
               workspace + piece_gradients(), stream);
      if (pieces.size() > 1) {
        kernels::scaled_copy<Bf16, Bf16>({.x = dk, .y = dk_all, .addend = dk_all}, stream);
        kernels::scaled_copy<Bf16, Bf16>({.x = dv, .y = dv_all, .addend = dv_all}, stream);
      }
    }
  }
};

Attention::Attention(const AttentionSizes& sizes, AttentionChoice choice)
    : state_(std::make_unique<State>()) {
  check(sizes);
  state_->sizes = sizes;
  state_->pieces = attention_pieces(sizes.query_pieces, sizes.chunk_size);
  std::string why = "asked for";
  if (choice == AttentionChoice::best) {
    try {
      state_->open_cudnn();
      return;
    } catch (const OutOfDeviceMemory&) {
      throw;
    } catch (const DeviceError& error) {
      why = error.what();
    }
  }
  state_->own = std::make_unique<OwnAttention>(sizes);
  state_->implementation = "own kernels: " + why;
}

Attention::~Attention() = default;

std::int64_t Attention::workspace_bytes(const AttentionForwardCall& call) {
  return state_->own ? 0 : state_->bytes_of(call);
}

std::int64_t Attention::workspace_bytes(const AttentionBackwardCall& call) {
  return state_->own ? state_->own->workspace_bytes() : state_->bytes_of(call);
}

std::int64_t Attention::workspace_bytes_max() const {
  return state_->own ? state_->own->workspace_bytes() : state_->bytes_max;
}

void Attention::forward(const AttentionForwardCall& call, std::byte* workspace, Stream stream) {
  if (state_->own) return state_->own->forward(call, stream);
  state_->run_forward(call, workspace, stream);
}

void Attention::backward(const AttentionBackwardCall& call, std::byte* workspace, Stream stream) {
  if (state_->own) return state_->own->backward(call, workspace, stream);
  state_->run_backward(call, workspace, stream);
}

const std::string& Attention::implementation() const {
  return state_->implementation;
}

}  // namespace llmb::runner::cuda
