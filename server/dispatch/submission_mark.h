// The mark of a submission: its id, which stands in the argv of the sbatch that submits it and in
// the comment of the job that comes of it.
#pragma once

#include <string>
#include <string_view>

namespace llmb::dispatch {

// 128 random bits: "llmb-" and 32 hexadecimal digits.
std::string new_submission_id();

// Whether a process of this machine, other than this one, has the mark among its arguments: a
// sbatch that outlived whoever called it may still submit.
bool is_being_submitted(std::string_view submission_id);

}  // namespace llmb::dispatch
