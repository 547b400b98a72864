// CudnnGraph: a graph of operations on tensors of four extents, as cuDNN's backend interface has
// them, and the plan that cuDNN makes of it. Only the operations that attention is made of. Real
// sources only.
#pragma once

#include <cudnn.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runner/kernels/stream.h"

namespace llmb::runner::cuda {

using kernels::Stream;

// Owns a descriptor of cuDNN's backend interface. Throws DeviceError.
class CudnnDescriptor {
 public:
  explicit CudnnDescriptor(cudnnBackendDescriptorType_t type);
  ~CudnnDescriptor();
  CudnnDescriptor(CudnnDescriptor&& other) noexcept;
  CudnnDescriptor& operator=(CudnnDescriptor&& other) = delete;

  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
           const void* values);
  void set(cudnnBackendAttributeName_t name, const CudnnDescriptor& other);
  void set(cudnnBackendAttributeName_t name, std::int64_t value);
  void set(cudnnBackendAttributeName_t name, cudnnDataType_t value);
  void finalize(const std::string& what);
  cudnnBackendDescriptor_t get() const { return descriptor_; }

 private:
  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

// Where a plan will run: on the device of a handle, or on one that is not there, as a JSON text
// describes it. For the latter cuDNN makes the kernels, and only cannot load them: such a plan
// tells that the graph is served, and cannot run. It needs some libcuda, which may be the toolkit's
// stub.
struct CudnnTarget {
  cudnnHandle_t handle = nullptr;
  std::string device_json;
};

class CudnnGraph {
 public:
  using Extents = std::array<std::int64_t, 4>;
  using Tensor = std::int64_t;  // the tensor's number in the graph, from 1
  enum class Kind { given, inner, by_value };

  static Extents packed_strides(const Extents& extents);

  Tensor tensor(const Extents& extents, const Extents& strides, cudnnDataType_t type, Kind kind);
  Tensor inner(const Extents& extents, cudnnDataType_t type = CUDNN_DATA_FLOAT);
  Tensor scalar(cudnnDataType_t type);

  void matmul(Tensor a, Tensor b, Tensor c);
  void pointwise(cudnnPointwiseMode_t mode, Tensor x, Tensor b, Tensor y,
                 cudnnDataType_t math = CUDNN_DATA_FLOAT);
  void pointwise(cudnnPointwiseMode_t mode, Tensor x, Tensor y);
  void select(Tensor x, Tensor otherwise, Tensor mask, Tensor y);
  void index(Tensor like, std::int64_t axis, Tensor y);
  void reduce(cudnnReduceTensorOp_t operation, Tensor x, Tensor y);
  void reshape(Tensor x, Tensor y);

  const Extents& extents(Tensor tensor) const;

 private:
  friend class CudnnPlan;
  struct TensorInfo {
    Extents extents;
    CudnnDescriptor descriptor;
  };
  cudnnBackendDescriptor_t descriptor(Tensor tensor) const;
  void set_tensor(CudnnDescriptor& operation, cudnnBackendAttributeName_t name, Tensor tensor);
  CudnnDescriptor pointwise_math(cudnnPointwiseMode_t mode, cudnnDataType_t math,
                                 std::int64_t axis = -1);
  void add(CudnnDescriptor operation, const char* what);

  std::vector<TensorInfo> tensors_;
  std::vector<CudnnDescriptor> parts_;  // what operations refer to
  std::vector<CudnnDescriptor> operations_;
};

// The first of cuDNN's engines that serves the graph. Throws DeviceError where none does.
class CudnnPlan {
 public:
  struct Value {
    CudnnGraph::Tensor tensor;
    const void* data;  // on the device, or of a by_value tensor on the host
  };

  CudnnPlan(const CudnnGraph& graph, const CudnnTarget& target);
  std::int64_t workspace_bytes() const { return workspace_bytes_; }
  // "engine 5"; for reports.
  const std::string& engine() const { return engine_; }
  void run(cudnnHandle_t handle, const std::vector<Value>& values, void* workspace) const;

 private:
  bool take(const CudnnDescriptor& config, const CudnnTarget& target, const CudnnDescriptor* device,
            std::string& reasons);

  std::vector<CudnnDescriptor> plan_;  // one
  std::int64_t workspace_bytes_ = 0;
  std::string engine_;
};

}  // namespace llmb::runner::cuda
