// FrameOwner: whose work a frame of a traceback is part of: the program's, a helper's, which
// uploads, logs or notifies beside it, or that of saving, which no run does without. What only a
// helper could not do harms no run that has trained all.
#pragma once

#include <cstddef>

#include "parser/dialects/program_place.h"

namespace llmb::parser {

// A traceback is of the greatest of its frames.
enum class FrameOwner { program, helper, saving };
inline constexpr std::size_t kFrameOwnerCount = 3;

FrameOwner owner_of(const TracebackFrame& frame);

}  // namespace llmb::parser
