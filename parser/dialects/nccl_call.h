// One line of an NCCL trace. Such lines come by the million, so their fields are taken by hand.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace llmb::parser {

// What every line of a trace holds: the operation's name stands before the first.
inline constexpr std::string_view kNcclInfo = "NCCL INFO ";
inline constexpr std::string_view kNcclOpCount = ": opCount ";
inline constexpr std::size_t kNcclOperationBytesMax = 40;
inline constexpr std::size_t kNcclPrefixBytesMax = 100;  // before "NCCL INFO", to be read in a run

// One call, as its line gives it.
struct NcclCall {
  std::string_view process;  // what stands before "NCCL INFO": "host:pid:tid [0] "
  std::string_view operation;
  std::uint64_t op_count = 0;  // hexadecimal in the line
  std::int64_t element_count = 0;
  std::int64_t datatype = 0;
  std::int64_t rank_count = 0;  // 0 where the line does not say
  std::string_view communicator;
  std::string_view rest;  // what follows the call on its line
};

// Nothing where `line` holds no call from which every field can be read.
std::optional<NcclCall> read_nccl_call(std::string_view line);

inline bool begins_with_nccl_info(std::string_view text) {
  return text.size() >= kNcclInfo.size() &&
         std::memcmp(text.data(), kNcclInfo.data(), kNcclInfo.size()) == 0;
}

// How many letters `text` begins with: an operation's name.
std::size_t nccl_operation_length(std::string_view text);

// What follows the operation, from kNcclOpCount on, in three parts. Each takes its own from the
// beginning of `text`, sets what it has of `call`, and call.rest to what follows; false where a
// field cannot be read.
bool read_nccl_buffers(std::string_view text, NcclCall& call);  // differ from call to call
bool read_nccl_meaning(std::string_view text,
                       NcclCall& call);  // what counts: " count … [nranks=8]"
bool read_nccl_stream(std::string_view text, NcclCall& call);

}  // namespace llmb::parser
