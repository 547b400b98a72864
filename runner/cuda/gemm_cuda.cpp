// Matrix products by cuBLASLt. It counts columns first, so it is asked for the transposes: d^T =
// op(b)^T op(a)^T, which is the same memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "runner/cuda/device_error.h"
#include "runner/cuda/gemm.h"
#include "runner/cuda/gemm_plans.h"
#include "runner/cuda/stream.h"
#include "runner/cuda/vendor_functions.h"
#include "runner/kernels/elementwise.h"

namespace llmb::runner::cuda {
namespace {

constexpr int kCandidatesMax = 16;
constexpr int kTimedRuns = 6;
constexpr std::size_t kFirstLibraryWithBlocks = 120800;  // cublasLtGetVersion

cudaDataType_t matrix_type(NumberType type) {
  switch (type) {
    case NumberType::bf16:
      return CUDA_R_16BF;
    case NumberType::fp8_e4m3:
    case NumberType::mxfp8:
      return CUDA_R_8F_E4M3;
    case NumberType::fp8_e5m2:
      return CUDA_R_8F_E5M2;
    default:
      return CUDA_R_32F;
  }
}

class Layout {
 public:
  Layout(NumberType type, std::int64_t rows, std::int64_t cols, std::int64_t stride,
         std::int64_t batch, std::int64_t batch_stride) {
    check(cublaslt().cublasLtMatrixLayoutCreate(&layout_, matrix_type(type),
                                                static_cast<std::uint64_t>(rows),
                                                static_cast<std::uint64_t>(cols), stride),
          "describe a matrix");
    if (batch == 1) return;
    const auto count = static_cast<std::int32_t>(batch);
    set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, count);
    set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, batch_stride);
  }
  ~Layout() { cublaslt().cublasLtMatrixLayoutDestroy(layout_); }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  cublasLtMatrixLayout_t get() const { return layout_; }

 private:
  template <typename T>
  void set(cublasLtMatrixLayoutAttribute_t attribute, const T& value) {
    check(cublaslt().cublasLtMatrixLayoutSetAttribute(layout_, attribute, &value, sizeof(value)),
          "describe a batch of matrices");
  }
  cublasLtMatrixLayout_t layout_ = nullptr;
};

// A product as cuBLASLt has it described: all but the pointers.
class Description {
 public:
  explicit Description(const Gemm& gemm)
      : a_(gemm.b.type, gemm.b.transposed ? gemm.k : gemm.n, gemm.b.transposed ? gemm.n : gemm.k,
           gemm.b.stride, gemm.batch, gemm.b_batch_stride),
        b_(gemm.a.type, gemm.a.transposed ? gemm.m : gemm.k, gemm.a.transposed ? gemm.k : gemm.m,
           gemm.a.stride, gemm.batch, gemm.a_batch_stride),
        d_(gemm.d_type, gemm.n, gemm.m, gemm.d_stride, gemm.batch, gemm.d_batch_stride) {
    require_served(gemm);
    check(cublaslt().cublasLtMatmulDescCreate(&matmul_, CUBLAS_COMPUTE_32F, CUDA_R_32F),
          "describe a product");
    set(CUBLASLT_MATMUL_DESC_TRANSA, gemm.b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, gemm.a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    const bool is_forward_fp8 =
        gemm.a.type == NumberType::fp8_e4m3 && gemm.b.type == NumberType::fp8_e4m3;
    if (is_forward_fp8) set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
    if (gemm.a.type == NumberType::mxfp8) set_scales_of_blocks();
    set_scales(gemm);
  }
  ~Description() { cublaslt().cublasLtMatmulDescDestroy(matmul_); }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;

  // The pointers of one call: they are attributes of the product.
  void set_scales(const Gemm& gemm) {
    if (!is_fp8(gemm.a.type)) return;
    const auto scale_of = [](const GemmOperand& x) -> const void* {
      return x.type == NumberType::mxfp8 ? static_cast<const void*>(x.block_scales) : x.scale;
    };
    set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scale_of(gemm.b));
    set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, scale_of(gemm.a));
  }

  cublasLtMatmulDesc_t matmul() const { return matmul_; }
  cublasLtMatrixLayout_t a() const { return a_.get(); }
  cublasLtMatrixLayout_t b() const { return b_.get(); }
  cublasLtMatrixLayout_t d() const { return d_.get(); }

 private:
  template <typename T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    check(cublaslt().cublasLtMatmulDescSetAttribute(matmul_, attribute, &value, sizeof(value)),
          "describe a product");
  }
  void set_scales_of_blocks() {
#if CUBLAS_VERSION >= 120800
    const std::int32_t mode = CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0;
    set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, mode);
    set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, mode);
#endif
  }
  cublasLtMatmulDesc_t matmul_ = nullptr;
  Layout a_, b_, d_;
};

class Preference {
 public:
  Preference(const Gemm& gemm, std::size_t workspace_bytes) {
    check(cublaslt().cublasLtMatmulPreferenceCreate(&preference_), "describe a search");
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{workspace_bytes});
    const auto alignment = [](const void* data, std::int64_t stride, NumberType type) {
      return static_cast<std::uint32_t>(row_alignment(data, stride, type));
    };
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
        alignment(gemm.b.data, gemm.b.stride, gemm.b.type));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        alignment(gemm.a.data, gemm.a.stride, gemm.a.type));
    const std::uint32_t of_d = alignment(gemm.d, gemm.d_stride, gemm.d_type);
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, of_d);
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, of_d);
  }
  ~Preference() { cublaslt().cublasLtMatmulPreferenceDestroy(preference_); }
  Preference(const Preference&) = delete;
  Preference& operator=(const Preference&) = delete;
  cublasLtMatmulPreference_t get() const { return preference_; }

 private:
  template <typename T>
  void set(cublasLtMatmulPreferenceAttributes_t attribute, const T& value) {
    check(cublaslt().cublasLtMatmulPreferenceSetAttribute(preference_, attribute, &value,
                                                          sizeof(value)),
          "describe a search");
  }
  cublasLtMatmulPreference_t preference_ = nullptr;
};

std::string hex_of(const cublasLtMatmulAlgo_t& algorithm) {
  std::string text;
  for (const std::uint64_t word : algorithm.data) text += fmt::format("{:016x}", word);
  return text;
}

cublasLtMatmulAlgo_t algorithm_of(const std::string& hex, const std::string& key) {
  cublasLtMatmulAlgo_t algorithm{};
  constexpr std::size_t kDigits = 16;
  if (hex.size() != kDigits * std::size(algorithm.data) ||
      hex.find_first_not_of("0123456789abcdef") != std::string::npos) {
    throw DeviceError("use the pinned plan of " + key, "it is no algorithm", "",
                      "Remove the plans' file to have it made anew.");
  }
  for (std::size_t i = 0; i < std::size(algorithm.data); ++i) {
    algorithm.data[i] = std::stoull(hex.substr(i * kDigits, kDigits), nullptr, 16);
  }
  return algorithm;
}

// cuBLASLt's answers to a product that it does not compute; nothing is on the stream then.
bool is_refusal(const DeviceError& error) {
  return error.code() == status_code(CUBLAS_STATUS_NOT_SUPPORTED) ||
         error.code() == status_code(CUBLAS_STATUS_INVALID_VALUE) ||
         error.code() == status_code(CUBLAS_STATUS_ARCH_MISMATCH);
}

// Without products: d = beta d.
void scale_result(const Gemm& gemm, Stream stream) {
  const auto scale = [&](auto example) {
    using T = decltype(example);
    for (std::int64_t i = 0; i < gemm.batch; ++i) {
      const kernels::Matrix<T> d(static_cast<T*>(gemm.d) + i * gemm.d_batch_stride, gemm.m, gemm.n,
                                 gemm.d_stride);
      if (gemm.beta == 0) {
        kernels::fill<T>(0, d, stream);
      } else {
        kernels::scaled_copy<T, T>({.x = d, .y = d, .factor = gemm.beta}, stream);
      }
    }
  };
  if (gemm.d_type == NumberType::bf16) {
    scale(kernels::Bf16{});
  } else {
    scale(0.0F);
  }
}

}  // namespace

struct GemmEngine::State {
  struct Plan {
    std::unique_ptr<Description> description;
    cublasLtMatmulAlgo_t algorithm{};
    bool is_chosen = false;  // by timing, or pinned
  };

  cublasLtHandle_t handle = nullptr;
  DeviceMemory workspace;
  std::map<std::string, Plan> plans;
  std::map<std::string, std::string> pinned;  // algorithms by key, until a product asks for one

  explicit State(std::size_t workspace_bytes) : workspace(workspace_bytes) {
    check(cublaslt().cublasLtCreate(&handle), "start cuBLASLt");
  }
  ~State() { cublaslt().cublasLtDestroy(handle); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::vector<cublasLtMatmulAlgo_t> candidates(const Gemm& gemm, const Description& description,
                                               int count) const {
    const Preference preference(gemm, workspace.bytes());
    std::vector<cublasLtMatmulHeuristicResult_t> results(static_cast<std::size_t>(count));
    int found = 0;
    const cublasStatus_t status = cublaslt().cublasLtMatmulAlgoGetHeuristic(
        handle, description.matmul(), description.a(), description.b(), description.d(),
        description.d(), preference.get(), count, results.data(), &found);
    if (status != CUBLAS_STATUS_NOT_SUPPORTED)
      check(status, "find an algorithm for " + plan_key(gemm));
    std::vector<cublasLtMatmulAlgo_t> algorithms;
    for (int i = 0; i < found; ++i) {
      const auto& result = results[static_cast<std::size_t>(i)];
      if (result.state == CUBLAS_STATUS_SUCCESS) algorithms.push_back(result.algo);
    }
    if (algorithms.empty()) {
      throw DeviceError("find an algorithm for " + plan_key(gemm), "cuBLASLt has none", "",
                        "Extents in multiples of 16 are always served.");
    }
    return algorithms;
  }

  Plan& plan_for(const Gemm& gemm) {
    const std::string key = plan_key(gemm);
    if (const auto known = plans.find(key); known != plans.end()) return known->second;
    Plan plan{std::make_unique<Description>(gemm), {}};
    if (const auto pin = pinned.find(key); pin != pinned.end()) {
      plan.algorithm = algorithm_of(pin->second, key);
      plan.is_chosen = true;
      check(accept(*plan.description, plan.algorithm), "use the pinned plan of " + key);
    } else {
      plan.algorithm = candidates(gemm, *plan.description, 1).front();
    }
    return plans.emplace(key, std::move(plan)).first->second;
  }

  // Whether the library takes the algorithm for this product, in the workspace that there is.
  cublasStatus_t accept(const Description& description,
                        const cublasLtMatmulAlgo_t& algorithm) const {
    cublasLtMatmulHeuristicResult_t result{};
    const cublasStatus_t status = cublaslt().cublasLtMatmulAlgoCheck(
        handle, description.matmul(), description.a(), description.b(), description.d(),
        description.d(), &algorithm, &result);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    return result.workspaceSize <= workspace.bytes() ? status : CUBLAS_STATUS_NOT_SUPPORTED;
  }

  void multiply(const Gemm& gemm, const Description& description,
                const cublasLtMatmulAlgo_t& algorithm, Stream stream) const {
    check(cublaslt().cublasLtMatmul(handle, description.matmul(), &gemm.alpha, gemm.b.data,
                                    description.a(), gemm.a.data, description.b(), &gemm.beta,
                                    gemm.d, description.d(), gemm.d, description.d(), &algorithm,
                                    workspace.data(), workspace.bytes(), stream),
          "multiply " + plan_key(gemm));
  }

  // Seconds of one product.
  double time_of(const Gemm& gemm, const Description& description,
                 const cublasLtMatmulAlgo_t& algorithm, Stream stream) const {
    Event begin(Event::Timing::with);
    Event end(Event::Timing::with);
    multiply(gemm, description, algorithm, stream);  // loads its kernel
    begin.record(stream);
    for (int i = 0; i < kTimedRuns; ++i) multiply(gemm, description, algorithm, stream);
    end.record(stream);
    end.synchronize();
    return Event::seconds_between(begin, end) / kTimedRuns;
  }
};

GemmEngine::GemmEngine(std::size_t workspace_bytes)
    : state_(std::make_unique<State>(workspace_bytes)) {}

GemmEngine::~GemmEngine() = default;

void GemmEngine::run(const Gemm& gemm, Stream stream) {
  check(gemm);
  if (gemm.m == 0 || gemm.n == 0 || gemm.batch == 0) return;
  if (gemm.k == 0) return scale_result(gemm, stream);
  State::Plan& plan = state_->plan_for(gemm);
  plan.description->set_scales(gemm);
  state_->multiply(gemm, *plan.description, plan.algorithm, stream);
}

TunedGemm GemmEngine::tune(const Gemm& gemm, Stream stream,
                           std::chrono::steady_clock::time_point until) {
  check(gemm);
  const GemmBuffers buffers(gemm, stream);
  const std::string key = plan_key(gemm);
  State::Plan plan{std::make_unique<Description>(gemm), {}, true};
  plan.description->set_scales(buffers.gemm());
  const auto algorithms = state_->candidates(gemm, *plan.description, kCandidatesMax);
  std::string refusal;
  const auto time_of = [&](std::size_t index) -> std::optional<double> {
    try {
      return state_->time_of(buffers.gemm(), *plan.description, algorithms[index], stream);
    } catch (const DeviceError& error) {
      if (!is_refusal(error)) throw;
      refusal = error.what();  // offered for the shape, and then not for this device
      return std::nullopt;
    }
  };
  const auto choice = choose_algorithm(algorithms.size(), time_of, until);
  if (!choice) throw DeviceError("tune " + key, "every algorithm was refused", refusal, "");
  plan.algorithm = algorithms[choice->index];
  TunedGemm tuned{key, hex_of(plan.algorithm), choice->time_s, choice->first_time_s,
                  flops_of(gemm) / choice->time_s / 1e12};
  state_->plans.insert_or_assign(key, std::move(plan));
  return tuned;
}

bool GemmEngine::has_plan(const Gemm& gemm) {
  const std::string key = plan_key(gemm);
  if (const auto known = state_->plans.find(key); known != state_->plans.end()) {
    return known->second.is_chosen;
  }
  if (!state_->pinned.contains(key)) return false;
  try {
    return state_->plan_for(gemm).is_chosen;
  } catch (const DeviceError&) {
    state_->pinned.erase(key);
    return false;
  }
}

std::string GemmEngine::plans_as_json() const {
  GemmPlans plans{gemm_place(), state_->pinned};
  for (const auto& [key, plan] : state_->plans) plans.algorithms[key] = hex_of(plan.algorithm);
  return gemm_plans_as_json(plans);
}

std::string GemmEngine::pin_plans(const std::string& json) {
  GemmPlans plans = gemm_plans_from_json(json);
  std::string why_not = why_plans_differ(plans, gemm_place());
  if (!why_not.empty()) return why_not;
  state_->pinned = std::move(plans.algorithms);
  state_->plans.clear();
  return "";
}

std::size_t GemmEngine::plan_count() const {
  std::size_t waiting = 0;
  for (const auto& [key, algorithm] : state_->pinned) {
    waiting += state_->plans.contains(key) ? 0 : 1;
  }
  return state_->plans.size() + waiting;
}

std::string why_library_has_no_mxfp8() {
  if (CUBLAS_VERSION < kFirstLibraryWithBlocks) {
    return fmt::format("this program was built with cuBLAS {}.{}, blocks need 12.8",
                       CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR);
  }
  if (cublaslt().cublasLtGetVersion() < kFirstLibraryWithBlocks) {
    return gemm_library() + " is loaded, blocks need 12.8";
  }
  return "";
}

std::string gemm_library() {
  const std::size_t version = cublaslt().cublasLtGetVersion();
  return fmt::format("cuBLASLt {}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

}  // namespace llmb::runner::cuda
