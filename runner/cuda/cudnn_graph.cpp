#include "runner/cuda/cudnn_graph.h"

#include <fmt/format.h>

#include <utility>

#include "runner/cuda/device_error.h"
#include "runner/cuda/vendor_functions.h"

namespace llmb::runner::cuda {
namespace {

constexpr std::int64_t kAlignment = 16;
constexpr std::int64_t kEnginesMax = 16;

std::string engine_of(const CudnnDescriptor& config) {
  const CudnnDescriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t raw = engine.get();
  std::int64_t count = 0;
  std::int64_t number = -1;
  if (cudnn().cudnnBackendGetAttribute(config.get(), CUDNN_ATTR_ENGINECFG_ENGINE,
                                       CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count,
                                       &raw) == CUDNN_STATUS_SUCCESS) {
    cudnn().cudnnBackendGetAttribute(raw, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1,
                                     &count, &number);
  }
  return fmt::format("engine {}", number);
}

// The best first.
std::vector<CudnnDescriptor> engines_for(const CudnnDescriptor& operations,
                                         cudnnBackendHeurMode_t mode,
                                         const CudnnDescriptor* device) {
  CudnnDescriptor search(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  search.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, operations);
  search.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
  if (device) search.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *device);
  std::vector<CudnnDescriptor> configs;
  if (cudnn().cudnnBackendFinalize(search.get()) != CUDNN_STATUS_SUCCESS) return configs;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (std::int64_t i = 0; i < kEnginesMax; ++i) {
    raw.push_back(configs.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).get());
  }
  std::int64_t found = 0;
  if (cudnn().cudnnBackendGetAttribute(search.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                       CUDNN_TYPE_BACKEND_DESCRIPTOR, kEnginesMax, &found,
                                       raw.data()) != CUDNN_STATUS_SUCCESS) {
    found = 0;
  }
  while (static_cast<std::int64_t>(configs.size()) > found) configs.pop_back();
  return configs;
}

}  // namespace

CudnnDescriptor::CudnnDescriptor(cudnnBackendDescriptorType_t type) {
  check(cudnn().cudnnBackendCreateDescriptor(type, &descriptor_), "make a descriptor of cuDNN");
}

CudnnDescriptor::~CudnnDescriptor() {
  if (descriptor_) cudnn().cudnnBackendDestroyDescriptor(descriptor_);
}

CudnnDescriptor::CudnnDescriptor(CudnnDescriptor&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, nullptr)) {}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                          std::int64_t count, const void* values) {
  check(cudnn().cudnnBackendSetAttribute(descriptor_, name, type, count, values),
        fmt::format("set cuDNN's attribute {}", static_cast<int>(name)));
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, const CudnnDescriptor& other) {
  const cudnnBackendDescriptor_t descriptor = other.get();
  set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &descriptor);
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, std::int64_t value) {
  set(name, CUDNN_TYPE_INT64, 1, &value);
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, cudnnDataType_t value) {
  set(name, CUDNN_TYPE_DATA_TYPE, 1, &value);
}

void CudnnDescriptor::finalize(const std::string& what) {
  check(cudnn().cudnnBackendFinalize(descriptor_), "describe " + what + " to cuDNN");
}

CudnnGraph::Extents CudnnGraph::packed_strides(const Extents& extents) {
  return {extents[1] * extents[2] * extents[3], extents[2] * extents[3], extents[3], 1};
}

CudnnGraph::Tensor CudnnGraph::tensor(const Extents& extents, const Extents& strides,
                                      cudnnDataType_t type, Kind kind) {
  CudnnDescriptor descriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const auto number = static_cast<std::int64_t>(tensors_.size()) + 1;
  descriptor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, number);
  descriptor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, type);
  descriptor.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kAlignment);
  descriptor.set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, extents.data());
  descriptor.set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides.data());
  const bool is_inner = kind == Kind::inner;
  const bool is_by_value = kind == Kind::by_value;
  descriptor.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_inner);
  if (is_by_value) {
    descriptor.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &is_by_value);
  }
  descriptor.finalize("a tensor");
  tensors_.push_back({extents, std::move(descriptor)});
  return number;
}

CudnnGraph::Tensor CudnnGraph::inner(const Extents& extents, cudnnDataType_t type) {
  return tensor(extents, packed_strides(extents), type, Kind::inner);
}

CudnnGraph::Tensor CudnnGraph::scalar(cudnnDataType_t type) {
  return tensor({1, 1, 1, 1}, {1, 1, 1, 1}, type, Kind::by_value);
}

const CudnnGraph::Extents& CudnnGraph::extents(Tensor tensor) const {
  return tensors_[static_cast<std::size_t>(tensor - 1)].extents;
}

cudnnBackendDescriptor_t CudnnGraph::descriptor(Tensor tensor) const {
  return tensors_[static_cast<std::size_t>(tensor - 1)].descriptor.get();
}

void CudnnGraph::set_tensor(CudnnDescriptor& operation, cudnnBackendAttributeName_t name,
                            Tensor tensor) {
  const cudnnBackendDescriptor_t of_tensor = descriptor(tensor);
  operation.set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &of_tensor);
}

void CudnnGraph::add(CudnnDescriptor operation, const char* what) {
  operation.finalize(what);
  operations_.push_back(std::move(operation));
}

void CudnnGraph::matmul(Tensor a, Tensor b, Tensor c) {
  CudnnDescriptor math(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  math.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT);
  math.finalize("a product's arithmetic");
  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  set_tensor(operation, CUDNN_ATTR_OPERATION_MATMUL_ADESC, a);
  set_tensor(operation, CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
  set_tensor(operation, CUDNN_ATTR_OPERATION_MATMUL_CDESC, c);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, math);
  parts_.push_back(std::move(math));
  add(std::move(operation), "a product");
}

CudnnDescriptor CudnnGraph::pointwise_math(cudnnPointwiseMode_t mode, cudnnDataType_t math,
                                           std::int64_t axis) {
  CudnnDescriptor pointwise(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  pointwise.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
  pointwise.set(CUDNN_ATTR_POINTWISE_MATH_PREC, math);
  if (axis >= 0) pointwise.set(CUDNN_ATTR_POINTWISE_AXIS, axis);
  pointwise.finalize("an elementwise operation's arithmetic");
  return pointwise;
}

void CudnnGraph::pointwise(cudnnPointwiseMode_t mode, Tensor x, Tensor b, Tensor y,
                           cudnnDataType_t math) {
  CudnnDescriptor arithmetic = pointwise_math(mode, math);
  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, arithmetic);
  set_tensor(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
  if (b != 0) set_tensor(operation, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b);
  set_tensor(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
  parts_.push_back(std::move(arithmetic));
  add(std::move(operation), "an elementwise operation");
}

void CudnnGraph::pointwise(cudnnPointwiseMode_t mode, Tensor x, Tensor y) {
  pointwise(mode, x, 0, y);
}

void CudnnGraph::select(Tensor x, Tensor otherwise, Tensor mask, Tensor y) {
  CudnnDescriptor arithmetic = pointwise_math(CUDNN_POINTWISE_BINARY_SELECT, CUDNN_DATA_FLOAT);
  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, arithmetic);
  set_tensor(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
  set_tensor(operation, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, otherwise);
  set_tensor(operation, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, mask);
  set_tensor(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
  parts_.push_back(std::move(arithmetic));
  add(std::move(operation), "a selection");
}

void CudnnGraph::index(Tensor like, std::int64_t axis, Tensor y) {
  CudnnDescriptor arithmetic = pointwise_math(CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_INT32, axis);
  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, arithmetic);
  set_tensor(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, like);
  set_tensor(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
  parts_.push_back(std::move(arithmetic));
  add(std::move(operation), "an index");
}

void CudnnGraph::reduce(cudnnReduceTensorOp_t kind, Tensor x, Tensor y) {
  CudnnDescriptor math(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  math.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &kind);
  math.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  math.finalize("a reduction's arithmetic");
  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  set_tensor(operation, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x);
  set_tensor(operation, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y);
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, math);
  parts_.push_back(std::move(math));
  add(std::move(operation), "a reduction");
}

void CudnnGraph::reshape(Tensor x, Tensor y) {
  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  set_tensor(operation, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x);
  set_tensor(operation, CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y);
  add(std::move(operation), "a reshape");
}

CudnnPlan::CudnnPlan(const CudnnGraph& graph, const CudnnTarget& target) {
  std::vector<CudnnDescriptor> device;
  if (!target.device_json.empty()) {
    CudnnDescriptor& described = device.emplace_back(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
    described.set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                  static_cast<std::int64_t>(target.device_json.size() + 1),
                  target.device_json.c_str());
    described.finalize("a device that is not there");
  }
  const CudnnDescriptor* of_device = device.empty() ? nullptr : device.data();
  CudnnDescriptor operations(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  std::vector<cudnnBackendDescriptor_t> list;
  for (const CudnnDescriptor& operation : graph.operations_) list.push_back(operation.get());
  operations.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                 static_cast<std::int64_t>(list.size()), list.data());
  if (target.handle) {
    operations.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &target.handle);
  }
  operations.finalize("the graph");

  std::string reasons;
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    for (const CudnnDescriptor& config : engines_for(operations, mode, of_device)) {
      if (take(config, target, of_device, reasons)) return;
    }
  }
  throw DeviceError("find an engine of cuDNN for a graph", "none serves it", reasons, "");
}

bool CudnnPlan::take(const CudnnDescriptor& config, const CudnnTarget& target,
                     const CudnnDescriptor* device, std::string& reasons) {
  CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
  if (target.handle) {
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &target.handle);
  }
  if (device) plan.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *device);
  const cudnnStatus_t status = cudnn().cudnnBackendFinalize(plan.get());
  const bool is_made_for_elsewhere = device && status == CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER;
  if (status != CUDNN_STATUS_SUCCESS && !is_made_for_elsewhere) {
    reasons +=
        fmt::format("{}{}", reasons.empty() ? "" : "; ", cudnn().cudnnGetErrorString(status));
    return false;
  }
  engine_ = engine_of(config);
  if (is_made_for_elsewhere) return true;
  std::int64_t count = 0;
  check(cudnn().cudnnBackendGetAttribute(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                         CUDNN_TYPE_INT64, 1, &count, &workspace_bytes_),
        "ask for a plan's workspace");
  plan_.push_back(std::move(plan));
  return true;
}

void CudnnPlan::run(cudnnHandle_t handle, const std::vector<Value>& values, void* workspace) const {
  std::vector<std::int64_t> numbers;
  std::vector<const void*> pointers;
  for (const Value& value : values) {
    numbers.push_back(value.tensor);
    pointers.push_back(value.data);
  }
  const auto count = static_cast<std::int64_t>(values.size());
  CudnnDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, numbers.data());
  pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, pointers.data());
  pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
  pack.finalize("a call's operands");
  check(cudnn().cudnnBackendExecute(handle, plan_.front().get(), pack.get()),
        "run a graph of cuDNN");
}

}  // namespace llmb::runner::cuda
