// LineWeight: how far a line that holds the words of a failure may be believed. Told from what kind
// of line it is (a comment, a warning, an error), whatever the failure; see failure_signs.cpp for
// the words themselves.
#pragma once

#include <string_view>

namespace llmb::parser {

// From what says the least on.
enum class LineWeight {
  echo,       // shows text without saying that it happened: a comment, a shell trace, a setting, a
              // frame of a traceback with its source
  warning,    // a program says that it goes on: the run may survive
  complaint,  // a shell or a loader could not do something, and goes on with the next thing
  note,       // printed at the level of what is no trouble: a logger may tell an exception so
  statement,  // everything else
};

// `line`: cleaned of colours; labels of launchers may stand before it.
LineWeight weight_of(std::string_view line);

// Whether the line tells that a program goes on: with another try, without what failed, or with
// something else.
bool tells_that_it_goes_on(std::string_view line);

// Whether nothing more is told of it, though the line has the form of a warning: what others say of
// the same says less.
bool is_last_word(std::string_view line);

// Whether the line tells of a job or an attempt before this one: "previous job 12 … CANCELLED DUE
// TO TIME LIMIT".
bool tells_of_an_earlier_run(std::string_view line);

// Whether the line tells that something failed, and leaves to others why: "child 28 failed with
// error code: 1", whose output follows.
bool leaves_reason_open(std::string_view line);

}  // namespace llmb::parser
