// The number of the reading: which rules told what is stored of a log. Runs keep the one that told
// them, so that after an upgrade it is known whose answer would be another by now.
#pragma once

#include <cstdint>

namespace llmb::parser {

// Raised with every change of what is told of a log's bytes: of samples, facts, events, and what
// statistics/ judges of them. GoldenReading (tests/parser/dialects/reading_test.cpp) fails where
// that changed for a log of the tests and this did not. What ingest adds beside the bytes (silence,
// a job's end) no such test sees: whoever changes that raises it as well. 0 is of before it was
// kept.
inline constexpr std::int64_t kReading = 7;

}  // namespace llmb::parser
