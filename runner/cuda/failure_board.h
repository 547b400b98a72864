// The process-wide place where the collectives' watchdog says why it ended a communicator. What
// CUDA then answers to whoever waits for a stream is a mere consequence, or nothing at all, so
// every wait looks here first. Thread-safe.
#pragma once

#include <string>

namespace llmb::runner::cuda {

// The first failure stays.
void post_failure(const std::string& group, const std::string& reason);
// Throws CommunicatorFailed where one was posted.
void throw_posted_failure();
// All communicators that it was about have gone.
void clear_failure();

}  // namespace llmb::runner::cuda
