// finish_output: whether what a command printed has arrived.
#pragma once

namespace llmb::cli {

// `exit_code`, or kFailed with a line on stderr where stdout would not take all of it.
int finish_output(int exit_code);

}  // namespace llmb::cli
