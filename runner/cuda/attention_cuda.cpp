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

// One run of queries that stands at the end of the keys it sees.
struct Piece {
  std::int64_t first_row = 0;  // of the queries, in positions
  std::int64_t query_count = 0;
  std::int64_t first_key = 0;
  std::int64_t key_count = 0;
};

// The pieces, cut where chunks end.
std::vector<Piece> pieces_of(const AttentionSizes& sizes) {
  std::vector<Piece> pieces;
  std::int64_t row = 0;
  for (const SequencePiece& piece : sizes.query_pieces) {
    const std::int64_t end = piece.first + piece.count;
    for (std::int64_t begin = piece.first; begin < end;) {
      const std::int64_t chunk = sizes.chunk_size > 0 ? begin / sizes.chunk_size : 0;
      const std::int64_t first_key = chunk * sizes.chunk_size;
      const std::int64_t stop =
          sizes.chunk_size > 0 ? std::min(end, first_key + sizes.chunk_size) : end;
      pieces.push_back({row, stop - begin, first_key, stop - first_key});
      row += stop - begin;
      begin = stop;
    }
  }
  return pieces;
}

CudnnAttentionShape shape_of(const AttentionSizes& sizes, const Piece& piece) {
  CudnnAttentionShape shape;
  shape.batch = sizes.batch;
  shape.head_count = sizes.head_count;
  shape.group_count = sizes.group_count;
  shape.head_size = sizes.head_size;
  shape.query_count = piece.query_count;
  shape.key_count = piece.key_count;
  shape.q_stride = shape.o_stride = shape.d_o_stride = shape.dq_stride =
      sizes.head_count * sizes.head_size;
  shape.k_stride = shape.v_stride = shape.dk_stride = shape.dv_stride =
      sizes.group_count * sizes.head_size;
  return shape;
}

}  // namespace

struct Attention::State {
  AttentionSizes sizes;
  std::vector<Piece> pieces;
  std::unique_ptr<OwnAttention> own;  // null where cuDNN serves
  std::string implementation;
  cudnnHandle_t handle = nullptr;
  // By shape and strides, which the first call brings.
  std::map<CudnnAttentionShape, CudnnAttentionForward> forward;
  std::map<CudnnAttentionShape, CudnnAttentionBackward> backward;
  DeviceMemory workspace;
  DeviceMemory piece_gradients;  // dk and dv of one piece, where there are several

  ~State() {
    if (handle) cudnn().cudnnDestroy(handle);
  }

  void open_cudnn() {
    check(cudnn().cudnnCreate(&handle), "start cuDNN");
    for (const Piece& piece : pieces) {
      forward_plan(shape_of(sizes, piece));
      backward_plan(shape_of(sizes, piece));
    }
    if (pieces.size() > 1) {
      const auto values = static_cast<std::size_t>(2 * sizes.key_count * sizes.batch *
                                                   sizes.group_count * sizes.head_size);
      piece_gradients = DeviceMemory(values * sizeof(Bf16));
    }
    const std::size_t version = cudnn().cudnnGetVersion();
    implementation =
        fmt::format("cuDNN {}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
  }

  void make_room(std::int64_t bytes) {
    if (static_cast<std::size_t>(bytes) > workspace.bytes()) {
      workspace = DeviceMemory();
      workspace = DeviceMemory(static_cast<std::size_t>(bytes));
    }
  }
  const CudnnAttentionForward& forward_plan(const CudnnAttentionShape& shape) {
    const auto known = forward.find(shape);
    if (known != forward.end()) return known->second;
    const auto made = forward.try_emplace(shape, shape, CudnnTarget{handle, ""}).first;
    make_room(made->second.workspace_bytes());
    return made->second;
  }
  const CudnnAttentionBackward& backward_plan(const CudnnAttentionShape& shape) {
    const auto known = backward.find(shape);
    if (known != backward.end()) return known->second;
    const auto made = backward.try_emplace(shape, shape, CudnnTarget{handle, ""}).first;
    make_room(made->second.workspace_bytes());
    return made->second;
  }

  template <typename Matrix>
  auto* query_rows(const Matrix& matrix, const Piece& piece) const {
    return matrix.row(piece.first_row * sizes.batch);
  }
  template <typename Matrix>
  auto* key_rows(const Matrix& matrix, const Piece& piece) const {
    return matrix.row(piece.first_key * sizes.batch);
  }
  std::int64_t first_statistic(const Piece& piece) const {
    return piece.first_row * sizes.batch * sizes.head_count;
  }

  void run_forward(const AttentionForwardCall& call, Stream stream) {
    check(cudnn().cudnnSetStream(handle, stream), "put cuDNN on a stream");
    for (const Piece& piece : pieces) {
      CudnnAttentionShape shape = shape_of(sizes, piece);
      shape.q_stride = call.q.stride;
      shape.k_stride = call.k.stride;
      shape.v_stride = call.v.stride;
      shape.o_stride = call.o.stride;
      forward_plan(shape).run(handle, query_rows(call.q, piece), key_rows(call.k, piece),
                              key_rows(call.v, piece), query_rows(call.o, piece),
                              call.statistics + first_statistic(piece), workspace.data());
    }
  }

  void run_backward(const AttentionBackwardCall& call, Stream stream) {
    check(cudnn().cudnnSetStream(handle, stream), "put cuDNN on a stream");
    const bool is_direct = pieces.size() == 1 && pieces[0].key_count == sizes.key_count;
    if (!is_direct) {
      kernels::fill<Bf16>(0, call.dk, stream);
      kernels::fill<Bf16>(0, call.dv, stream);
    }
    for (const Piece& piece : pieces) {
      const std::int64_t cols = sizes.group_count * sizes.head_size;
      const std::int64_t rows = piece.key_count * sizes.batch;
      Bf16Matrix dk(key_rows(call.dk, piece), rows, cols, call.dk.stride);
      Bf16Matrix dv(key_rows(call.dv, piece), rows, cols, call.dv.stride);
      const Bf16Matrix dk_all = dk;
      const Bf16Matrix dv_all = dv;
      if (pieces.size() > 1) {
        auto* place = reinterpret_cast<Bf16*>(piece_gradients.data());
        dk = Bf16Matrix(place, rows, cols);
        dv = Bf16Matrix(place + sizes.key_count * sizes.batch * cols, rows, cols);
      }
      backward_of_piece(call, piece, dk, dv, stream);
      if (pieces.size() > 1) {
        kernels::scaled_copy<Bf16, Bf16>({.x = dk, .y = dk_all, .addend = dk_all}, stream);
        kernels::scaled_copy<Bf16, Bf16>({.x = dv, .y = dv_all, .addend = dv_all}, stream);
      }
    }
  }

  void backward_of_piece(const AttentionBackwardCall& call, const Piece& piece, Bf16Matrix dk,
                         Bf16Matrix dv, Stream stream) {
    CudnnAttentionShape shape = shape_of(sizes, piece);
    shape.q_stride = call.q.stride;
    shape.k_stride = call.k.stride;
    shape.v_stride = call.v.stride;
    shape.o_stride = call.o.stride;
    shape.d_o_stride = call.d_o.stride;
    shape.dq_stride = call.dq.stride;
    shape.dk_stride = dk.stride;
    shape.dv_stride = dv.stride;
    backward_plan(shape).run(
        handle,
        {query_rows(call.q, piece), key_rows(call.k, piece), key_rows(call.v, piece),
         query_rows(call.o, piece), query_rows(call.d_o, piece),
         call.statistics + first_statistic(piece), query_rows(call.dq, piece), dk.data, dv.data},
        workspace.data(), stream);
  }
};

Attention::Attention(const AttentionSizes& sizes, AttentionChoice choice)
    : state_(std::make_unique<State>()) {
  check(sizes);
  state_->sizes = sizes;
  state_->pieces = pieces_of(sizes);
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

void Attention::forward(const AttentionForwardCall& call, Stream stream) {
  if (state_->own) return state_->own->forward(call, stream);
  state_->run_forward(call, stream);
}

void Attention::backward(const AttentionBackwardCall& call, Stream stream) {
  if (state_->own) return state_->own->backward(call, stream);
  state_->run_backward(call, stream);
}

std::int64_t Attention::workspace_bytes() const {
  if (state_->own) return state_->own->workspace_bytes();
  return static_cast<std::int64_t>(state_->workspace.bytes() + state_->piece_gradients.bytes());
}

const std::string& Attention::implementation() const {
  return state_->implementation;
}

}  // namespace llmb::runner::cuda
