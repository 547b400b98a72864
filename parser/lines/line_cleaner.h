// clean_line: what the training program printed, without what terminals and launchers put around
// it. Every dialect reads the cleaned line; offsets still mean the raw one.
//
// Removed anywhere: ANSI escape sequences (colours, cursor movement, OSC hyperlinks and titles) and
// NULs (holes that network file systems leave). Removed at the beginning, each kind once, in any
// order: the labels of
//   srun --label        " 0: ", "13: "                     torchrun  "[default0]:"
//   torch               "[rank2]: "                        torchx    "ining-demo/0 "
//   Ray                 "(RayTrainWorker pid=615, ip=10.0.0.1) "
//   SkyPilot            "(pretraining, pid=4112) "
// Invalid UTF-8 passes through. Blanks of the line itself stay, also those after a label.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace llmb::parser {

// A view into `raw` where nothing within it had to go, else into `scratch`, which is overwritten.
std::string_view clean_line(std::string_view raw, std::string& scratch);

// How long the label is with which a cleaned line begins, as it does where another prefix stood
// before it, or where a launcher's stands twice. 0 where there is none.
std::size_t label_length(std::string_view line);

}  // namespace llmb::parser
