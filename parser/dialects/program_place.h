// ProgramPlace: what a program was doing where an exception was raised, as the frames of its
// traceback tell by their files and functions, and by the source that they show. A table, for what
// its words leave open; which class follows from it is said in exception_cause.h.
#pragma once

#include <string_view>

namespace llmb::parser {

enum class ProgramPlace {
  unknown,
  configuration,  // reads and checks arguments and settings
  building,       // makes the model and what belongs to it, by what was configured
  data,           // opens and reads data sets, and tokenizers
  checkpoint,     // loads a checkpoint
  importing,      // runs the body of an installed module, which happens when it is imported
  rendezvous,     // meets the other ranks
  computing,      // the program's own steps, and what it saves
  engine,         // the same, within a library: gradients, optimizers, compilers, sharding
};
inline constexpr int kProgramPlaceCount = 9;

// A line of a traceback: "  File "/opt/x/arguments.py", line 501, in validate_args". Both are
// empty where it is none.
struct TracebackFrame {
  std::string_view file;
  std::string_view function;
};
TracebackFrame read_traceback_frame(std::string_view line);

// Where the program stands after one frame more, the frames given from the outermost on. `depth`:
// how many frames came before this one.
ProgramPlace place_after_frame(ProgramPlace before, const TracebackFrame& frame, int depth);

// The same by a frame's source: "    batch = next(data_iterator)".
ProgramPlace place_after_source(ProgramPlace before, std::string_view source);

}  // namespace llmb::parser
