// What programs and scripts of any kind say at a good end: that training is over, and that all
// ended well. Words only; what they mean for a run is told by where they stand.
#pragma once

#include <string_view>

namespace llmb::parser {

// "Training complete", "all 8 exited with code 0", "finished: SUCCEEDED": not of one process among
// others, and no echo of a script. `text`: without what stands before it.
bool tells_of_a_good_end(std::string_view text);

// kTrainingOver where the line tells that the program has trained all, or has saved the last
// checkpoint, whoever prints it; else empty. `text`: the same.
std::string_view end_of_training(std::string_view text);

}  // namespace llmb::parser
