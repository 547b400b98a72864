#include "runner/cpu/gemm.h"

#include <vector>

#include "runner/cpu/parallel_for.h"

#ifdef LLMB_HAVE_CBLAS
#include <cblas.h>
#include <string>
#endif

namespace llmb::runner::cpu {
namespace {

// Rows of c in one call. Fixed, so that threads share whole blocks and never change their bits.
constexpr std::int64_t kRowBlock = 512;

template <typename T>
void scale_rows(std::int64_t m, std::int64_t n, T beta, T* c, std::int64_t c_stride) {
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      T& value = c[i * c_stride + j];
      value = beta == T(0) ? T(0) : beta * value;
    }
  }
}

#ifdef LLMB_HAVE_CBLAS
CBLAS_TRANSPOSE transpose_of(bool transposed) {
  return transposed ? CblasTrans : CblasNoTrans;
}

// The library's own threads would be one more pool beside ours, shared by all ranks.
void use_one_blas_thread() {
  static const bool done = (openblas_set_num_threads(1), true);
  static_cast<void>(done);
}

template <typename T>
void block_gemm(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, Operand<T> a, Operand<T> b,
                T beta, T* c, std::int64_t c_stride) {
  use_one_blas_thread();
  const auto to_blas = [](std::int64_t value) { return static_cast<blasint>(value); };
  if constexpr (std::is_same_v<T, float>) {
    cblas_sgemm(CblasRowMajor, transpose_of(a.transposed), transpose_of(b.transposed), to_blas(m),
                to_blas(n), to_blas(k), alpha, a.data, to_blas(a.stride), b.data, to_blas(b.stride),
                beta, c, to_blas(c_stride));
  } else {
    cblas_dgemm(CblasRowMajor, transpose_of(a.transposed), transpose_of(b.transposed), to_blas(m),
                to_blas(n), to_blas(k), alpha, a.data, to_blas(a.stride), b.data, to_blas(b.stride),
                beta, c, to_blas(c_stride));
  }
}
#else
template <typename T>
void block_gemm(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, Operand<T> a, Operand<T> b,
                T beta, T* c, std::int64_t c_stride) {
  plain_gemm(m, n, k, alpha, a, b, beta, c, c_stride);
}
#endif

}  // namespace

template <typename T>
void plain_gemm(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, Operand<T> a, Operand<T> b,
                T beta, T* c, std::int64_t c_stride) {
  scale_rows(m, n, beta, c, c_stride);
  for (std::int64_t i = 0; i < m; ++i) {
    T* c_row = c + i * c_stride;
    for (std::int64_t p = 0; p < k; ++p) {
      const T factor = alpha * (a.transposed ? a.data[p * a.stride + i] : a.data[i * a.stride + p]);
      if (b.transposed) {
        for (std::int64_t j = 0; j < n; ++j) c_row[j] += factor * b.data[j * b.stride + p];
      } else {
        const T* b_row = b.data + p * b.stride;
        for (std::int64_t j = 0; j < n; ++j) c_row[j] += factor * b_row[j];
      }
    }
  }
}

template <typename T>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, Operand<T> a, Operand<T> b,
          T beta, T* c, std::int64_t c_stride) {
  if (m == 0 || n == 0) return;
  if (k == 0) return scale_rows(m, n, beta, c, c_stride);
  parallel_for(m, kRowBlock, [&](std::int64_t begin, std::int64_t end) {
    const Operand<T> rows{a.data + begin * (a.transposed ? 1 : a.stride), a.stride, a.transposed};
    block_gemm(end - begin, n, k, alpha, rows, b, beta, c + begin * c_stride, c_stride);
  });
}

const char* gemm_library() {
#ifdef LLMB_HAVE_CBLAS
  // It puts the words together anew in one buffer with each call, whoever reads there meanwhile.
  static const std::string config = openblas_get_config();
  return config.c_str();
#else
  return "plain loops";
#endif
}

template void gemm(std::int64_t, std::int64_t, std::int64_t, float, Operand<float>, Operand<float>,
                   float, float*, std::int64_t);
template void gemm(std::int64_t, std::int64_t, std::int64_t, double, Operand<double>,
                   Operand<double>, double, double*, std::int64_t);
template void plain_gemm(std::int64_t, std::int64_t, std::int64_t, float, Operand<float>,
                         Operand<float>, float, float*, std::int64_t);
template void plain_gemm(std::int64_t, std::int64_t, std::int64_t, double, Operand<double>,
                         Operand<double>, double, double*, std::int64_t);

}  // namespace llmb::runner::cpu
