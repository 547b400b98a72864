// The rows of log_text: the text of pushed logs, in blocks. All functions run inside a transaction
// of the caller's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/connection.h"
#include "storage/push_records.h"

namespace llmb::storage {

struct ToldRun {
  RunId run = 0;
  bool is_word_of_sender = false;  // else of another store
};
// The run that `store_id` told under that name, or that another store told as this one does, with
// as many bytes of its log read; nothing: there is none.
std::optional<ToldRun> find_told_run(Connection& connection, const std::string& cluster,
                                     const std::string& store_id, const LogBlockTelling& told);

// Takes the place of a shorter block; of one as long where the run is the sender's word, for that
// may be of what the log held by another store's word before. Of a long log the middle goes.
// Returns where the sender goes on: behind what is held, or, of its own word, behind the block, for
// what is held further on may be of the log before, too.
std::uint64_t write_log_block(Connection& connection, const ToldRun& told, const LogBlock& block);
// The text is removed on purpose; log_text_end() stays, so that its agent does not send it again.
void remove_log_text(Connection& connection, RunId run);
// What its blocks take, packed.
std::uint64_t log_text_stored_bytes(Connection& connection, RunId run);
// Where the last block ends, removed or not; 0: there is none.
std::uint64_t log_text_end(Connection& connection, RunId run);
// Of all blocks, in their order.
std::vector<LogBlockPlace> read_log_block_places(Connection& connection, RunId run);
// Those that hold bytes from `begin` up to `end`, in their order.
std::vector<LogBlock> read_log_blocks(Connection& connection, RunId run, std::uint64_t begin,
                                      std::uint64_t end);

}  // namespace llmb::storage
