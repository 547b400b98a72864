// NcclTraceReader: adds up the collectives of an NCCL trace, line by line, in bounded memory. Its
// lines come by the million, so fields are taken by hand and the lines are not cleaned first.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "parser/dialects/state_text.h"
#include "parser/nccl_use.h"

namespace llmb::parser {

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

class NcclTraceReader {
 public:
  // What every line of a trace holds.
  static constexpr std::string_view kLiteral = ": opCount ";

  // `line` holds kLiteral. True when the line is a call and nothing else; otherwise it may hold
  // other things too, and is counted as torn where it holds "NCCL INFO".
  bool read(std::string_view line);

  bool is_empty() const { return trace_.uses.empty() && trace_.torn_lines == 0; }
  bool has_changed() const { return has_changed_; }
  // Sorted; marks it as seen.
  NcclTrace take_snapshot();

  void save(StateWriter& state) const;
  void restore(StateReader& state);

 private:
  // Communicators of one use, as hashes of process and pointer.
  using Communicators = std::vector<std::uint32_t>;

  void add(const NcclCall& call);
  std::size_t find_or_insert(const NcclCall& call);
  void see_communicator(std::size_t index, const NcclCall& call);

  NcclTrace trace_;                           // uses in the order in which they came
  std::vector<Communicators> communicators_;  // parallel to uses
  std::size_t communicators_kept_ = 0;
  // Index of a use plus one, by hash; open addressing.
  std::array<std::uint16_t, 1024> slots_{};
  bool has_changed_ = false;
};

}  // namespace llmb::parser
