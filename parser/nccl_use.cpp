#include "parser/nccl_use.h"

#include <fmt/format.h>

#include <array>

namespace llmb::parser {
namespace {

struct Datatype {
  std::string_view name;
  std::int64_t bytes;
};
// ncclDataType_t of nccl.h: the position is the number.
constexpr std::array kDatatypes = {
    Datatype{"int8", 1},     Datatype{"uint8", 1},       Datatype{"int32", 4},
    Datatype{"uint32", 4},   Datatype{"int64", 8},       Datatype{"uint64", 8},
    Datatype{"float16", 2},  Datatype{"float32", 4},     Datatype{"float64", 8},
    Datatype{"bfloat16", 2}, Datatype{"float8_e4m3", 1}, Datatype{"float8_e5m2", 1},
};

const Datatype* find(std::int64_t datatype) {
  const auto index = static_cast<std::size_t>(datatype);
  return datatype >= 0 && index < kDatatypes.size() ? &kDatatypes[index] : nullptr;
}

}  // namespace

std::string nccl_datatype_name(std::int64_t datatype) {
  const Datatype* known = find(datatype);
  return known != nullptr ? std::string(known->name) : fmt::format("datatype {}", datatype);
}

std::int64_t nccl_datatype_bytes(std::int64_t datatype) {
  const Datatype* known = find(datatype);
  return known != nullptr ? known->bytes : 0;
}

std::int64_t bytes_per_call(const NcclUse& use) {
  return use.element_count * nccl_datatype_bytes(use.datatype);
}

}  // namespace llmb::parser
