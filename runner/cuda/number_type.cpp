#include "runner/cuda/number_type.h"

namespace llmb::runner::cuda {

const char* name_of(NumberType type) {
  switch (type) {
    case NumberType::float32:
      return "float32";
    case NumberType::float64:
      return "float64";
    case NumberType::bf16:
      return "bf16";
    case NumberType::fp8_e4m3:
      return "fp8_e4m3";
    case NumberType::fp8_e5m2:
      return "fp8_e5m2";
    case NumberType::mxfp8:
      return "mxfp8";
    case NumberType::int32:
      return "int32";
    case NumberType::int64:
      return "int64";
    case NumberType::byte:
      return "byte";
  }
  return "";
}

std::size_t bytes_of(NumberType type) {
  switch (type) {
    case NumberType::float64:
    case NumberType::int64:
      return 8;
    case NumberType::float32:
    case NumberType::int32:
      return 4;
    case NumberType::bf16:
      return 2;
    case NumberType::fp8_e4m3:
    case NumberType::fp8_e5m2:
    case NumberType::mxfp8:
    case NumberType::byte:
      return 1;
  }
  return 0;
}

bool is_fp8(NumberType type) {
  return type == NumberType::fp8_e4m3 || type == NumberType::fp8_e5m2 || type == NumberType::mxfp8;
}

}  // namespace llmb::runner::cuda
