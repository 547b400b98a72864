// What ended a program that raised an exception, told by the exception's type and by the words of
// its message, whoever raised it, and where these leave it open by what the program was doing. Only
// for exceptions that no sign of failure_signs.cpp names: it is asked for the last line of a
// traceback, so its words cost the scan of a log nothing.
#pragma once

#include <string_view>

#include "parser/dialects/program_place.h"

namespace llmb::parser {

struct ExceptionVerdict {
  // What tells the class, from what says the least on.
  enum class Basis {
    no_exception,  // the line is none: `cause` is empty
    nothing,       // "python_exception"
    place,         // where it was raised
    refusal,       // the message refuses something, as settings are refused
    words,         // type and message
  };
  std::string_view cause;
  Basis basis = Basis::no_exception;
  std::string_view cause_by_words = cause;  // wherever it was raised
};

// Of the exception that `line` tells of, raised at `place`.
ExceptionVerdict judge_exception(std::string_view line, ProgramPlace place = ProgramPlace::unknown);

// Whether `line` is the last one of a traceback, or a logger's word about an exception:
// "ValueError: …", "AssertionError" without a word, "triton.runtime.errors.OutOfResources: …", at
// the beginning of a line, of what a logger prints (at the level of an error, or of a note, which
// is told apart by LineWeight), or behind words that say what came of it.
bool is_exception(std::string_view line);

// The same of a line that holds "Error: [Errno 28]": the class by that number.
std::string_view cause_of_system_error(std::string_view line);

// The class of the exception that `line` tells of; "python_exception" where neither type nor words
// say more, empty where the line is no exception.
std::string_view cause_of_exception(std::string_view line);

// The same of a C++ exception that nobody caught, by its `message`: what follows "  what():  ".
// Empty where the words say nothing.
std::string_view cause_of_native_exception(std::string_view message);

}  // namespace llmb::parser
