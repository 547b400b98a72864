// What ended a program that raised an exception, told by the exception's type and by the words of
// its message, whoever raised it. Only for exceptions that no sign of failure_signs.cpp names: it
// is asked for the last line of a traceback, so its words cost the scan of a log nothing.
#pragma once

#include <string_view>

namespace llmb::parser {

// RE2 of the last line of a traceback: "ValueError: …", "torch.distributed.DistBackendError: …",
// "AssertionError" without a word, "triton.runtime.errors.OutOfResources: …", at the beginning of a
// line or of what a logger prints at the level of an error. Captures the last part of the type.
inline constexpr std::string_view kExceptionHead =
    R"((?:^[ |+]*|^.{0,80}(?:ERROR|CRITICAL|FATAL)\b.{0,160}?(?:\] | - | \| )|)"
    R"(^E\d{4} .{0,200}?\] ))"
    R"((?:(?:\w+\.)*(_?[A-Z]\w*(?:Error|Exception|Failure|Timeout|Exit|Expired|Iteration)|)"
    R"(Exception|BrokenProcessPool)|)"
    R"((?:[a-z_]\w*\.)+([A-Z]\w+|error|gaierror|timeout))(?:: |:?\s*$))";

// The class of the exception that `line` tells of; "python_exception" where neither type nor words
// say more, empty where the line is no exception.
std::string_view cause_of_exception(std::string_view line);

// The same of a C++ exception that nobody caught, by its `message`: what follows "  what():  ".
// Empty where the words say nothing.
std::string_view cause_of_native_exception(std::string_view message);

}  // namespace llmb::parser
