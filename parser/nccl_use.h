// NcclTrace: what the collectives of an NCCL trace ("NCCL INFO AllReduce: opCount …") amount to, as
// a table of sizes by operation. Small whatever the log.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llmb::parser {

inline constexpr std::size_t kNcclUsesMax = 256;

// All calls of one operation with the same datatype, count and number of ranks.
struct NcclUse {
  std::string operation;           // as NCCL names it: "AllReduce"
  std::int64_t datatype = 0;       // NCCL's number; see nccl_datatype_name()
  std::int64_t element_count = 0;  // of one call: of AllGather and ReduceScatter one rank's part
  std::int64_t rank_count = 0;     // of the communicator; 0 where the line does not say
  std::int64_t calls = 0;          // lines: every rank that is traced prints its own
  // Distinct communicators (one a process and group), as far as they were counted.
  std::int64_t communicator_count = 0;
  bool communicators_are_complete = true;

  bool operator==(const NcclUse&) const = default;
};

struct NcclTrace {
  std::vector<NcclUse> uses;     // by operation, datatype, element_count, rank_count
  std::int64_t other_calls = 0;  // those that found no room in `uses`
  std::int64_t other_bytes = 0;
  std::int64_t torn_lines = 0;  // ranks that write at once tear each other's lines

  bool operator==(const NcclTrace&) const = default;
};

// "float32"; "datatype 77" for a number that NCCL does not have, and 0 bytes.
std::string nccl_datatype_name(std::int64_t datatype);
std::int64_t nccl_datatype_bytes(std::int64_t datatype);

// Bytes of one call, element_count times the datatype's size.
std::int64_t bytes_per_call(const NcclUse& use);

}  // namespace llmb::parser
