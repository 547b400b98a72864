// PushedText: the whole text of a pushed log, block by block, as it was when the reading began.
// Where blocks are missing, one line says so in their place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "server/api/found_log.h"
#include "storage/push_records.h"

namespace llmb::api {

// Not thread-safe.
class PushedText {
 public:
  // Reads where the blocks are. Throws RequestError (404) where none is there any more.
  PushedText(ReaderPool& readers, const PushedLog& log);

  std::uint64_t size_bytes() const { return size_bytes_; }
  // The same where the text is.
  const std::string& version() const { return version_; }

  // The next bytes, empty at the end. Throws RequestError where a block has gone meanwhile, or
  // another text stands in its place.
  std::string next();

 private:
  struct Part {
    std::string line;  // that stands for what is missing; empty: the block
    storage::LogBlockPlace block;
  };
  void add_gap(std::uint64_t begin, std::uint64_t end);
  std::string read(const storage::LogBlockPlace& place) const;

  ReaderPool& readers_;
  const storage::RunId run_;
  std::vector<Part> parts_;
  std::size_t next_part_ = 0;
  std::uint64_t size_bytes_ = 0;
  std::string version_;
};

}  // namespace llmb::api
