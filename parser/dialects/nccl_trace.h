// NcclTraceReader: adds up the collectives of an NCCL trace, line by line, in bounded memory. Its
// lines come by the million, so they are not cleaned first, and where one follows the other they
// are read in one go, from the left to the right.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "parser/dialects/nccl_call.h"
#include "parser/dialects/nccl_known_lines.h"
#include "parser/dialects/state_text.h"
#include "parser/nccl_use.h"

namespace llmb::parser {

class NcclTraceReader {
 public:
  // What every line of a trace holds.
  static constexpr std::string_view kLiteral = kNcclOpCount;

  enum class Outcome {
    no_trace,  // nothing of a trace in it
    torn,      // a call that is cut, or glued to other text on either side: the line may hold
               // other things too
    whole,     // a call and nothing else
  };
  Outcome read(std::string_view line);

  // Of complete lines with their ends: reads those in front that are whole calls, and returns how
  // many bytes they take. May stop at any of them; read() then tells what the line is.
  std::size_t read_run(std::string_view lines);

  bool is_empty() const { return trace_.uses.empty() && trace_.torn_lines == 0; }
  bool has_changed() const { return has_changed_; }
  // Sorted; marks it as seen.
  NcclTrace take_snapshot();

  void save(StateWriter& state) const;
  void restore(StateReader& state);

 private:
  // Communicators of one use, as hashes of process and pointer.
  struct Communicators {
    std::vector<std::uint32_t> hashes;
    std::size_t newest = 0;
  };
  // Its use, or kNcclUsesMax. Of a call behind other words its process is not known, and with it
  // whose communicator it is: the count of its use is then a lower bound.
  std::size_t add(const NcclCall& call, std::optional<std::uint64_t> process_hash);
  std::size_t find_or_insert(const NcclCall& call);
  bool has_room_for_communicators(std::size_t index) const;
  void see_communicator(std::size_t index, std::uint64_t hash);
  std::size_t read_first_of_run(std::string_view lines);
  std::size_t read_and_learn(std::string_view lines);

  NcclTrace trace_;  // uses in the order in which they came, uncounted
  NcclKnownLines::Counts counts_;
  std::vector<Communicators> communicators_;  // parallel to uses
  std::size_t communicators_kept_ = 0;
  // Index of a use plus one, by hash; open addressing.
  std::array<std::uint16_t, 1024> slots_{};
  NcclKnownLines known_;
  NcclKnownLines::Prefix prefix_;  // of the newest line of a run
  bool has_changed_ = false;
};

}  // namespace llmb::parser
