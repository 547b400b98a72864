// PrintingProcesses: which processes of a run print its steps, told by the labels that launchers
// put before their lines ("3: ", "[rank3]:"). Where every process prints its own line, a slow one
// prints a step after others went on: it comes late, and only one that goes back itself began anew.
// Knows the newest steps of one segment; lines without a label tell nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string_view>

#include "parser/dialects/state_text.h"

namespace llmb::parser {

class PrintingProcesses {
 public:
  // How far processes may lie apart.
  static constexpr std::size_t kStepsMax = 16;
  static constexpr std::size_t kProcessesMax = 4096;

  // The line that is being read, as the log has it: a view that has to live until the next call.
  void see_line(std::string_view raw) { line_ = raw; }

  // Whether the line's process prints a step that others printed before it, and did not itself.
  bool is_late(std::int64_t iteration) const;

  // The line prints this step.
  void note(std::int64_t iteration);

  // The next step is another attempt's first.
  void begin_anew();

  void save(StateWriter& state) const;
  void restore(StateReader& state);

 private:
  std::optional<std::uint64_t> process_of_line() const;

  std::string_view line_;
  std::deque<std::int64_t> steps_;                   // rising
  std::map<std::uint64_t, std::int64_t> newest_of_;  // by process: the hash of its label
};

}  // namespace llmb::parser
