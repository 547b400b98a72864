// without_collector_prefix: a line without what stands before it that clean_line leaves, whoever
// put it there and in whatever order. Only for lines that are read as words: a dialect may want the
// stamp, which goes too.
#pragma once

#include <cstddef>
#include <string_view>

namespace llmb::parser {

// Takes off, as often as they stand there: the labels of clean_line; stamps, in brackets or not
// ("2026-01-02T03:04:05.1Z ", "[ 2026-01-02 03:04 ] "), a level in one letter before and the
// stream of Kubernetes behind them;
// "[1,7]<stderr>:" (mpirun); "[3]:" and "[3] "; "[host:0] ", "[worker-3] ",
// "[pod/name/container] "; "trainer-1  | " (compose); "node-7: " (pdsh); "Nov 20 12:01:31 node-7
// python[3811]: " (systemd's journal).
// "[3] " may be a count, too: where it is kept, so is what stands behind it.
enum class NumberPrefix { taken_off, kept };
std::string_view without_collector_prefix(std::string_view line,
                                          NumberPrefix number = NumberPrefix::taken_off);

// How much of the line's beginning is a stamp, with the blank and Kubernetes' stream behind it:
// "2026-01-02T03:04:05.123456789Z stderr F ", "[2026-01-02 03:04:05] ", "2026-01-02 03:04:05,123 ",
// "[ 2026-01-02 03:04 ] ". What is one, is one with any other digits, too.
std::size_t stamp_length(std::string_view line);

// Whether a launcher's label of one task stands before the line: srun's "13: ", torchrun's
// "[default3]:" or mpirun's "[1,7]<stderr>:". A launcher that labels does so with every line of its
// tasks. `raw`: the line before it was cleaned.
bool has_label_of_task(std::string_view raw);

// By which a line tells the process that printed it from others: all that without_collector_prefix
// would take off, as it stands there, but for stamps before it. Ends before a stamp behind it.
// Empty where there is none. `raw` as has_label_of_task's.
std::string_view process_label(std::string_view raw);

}  // namespace llmb::parser
