// The files of a job, which others write: read below the folder that holds all runs, without
// following a link, regular files only, and within a few seconds, whatever their file system does
// (file_call.h). Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parser/foundation/file_descriptor.h"
#include "parser/result.h"

namespace llmb::dispatch {

// Paths are those of a job's row: below a folder `experiments`, or `results` as in 2024, which may
// be a link itself; else below the folder that holds the last one.

// The names in `folder`; none where it is not there (yet). Fails where the folder is a link or no
// folder, and where the file system does not answer.
parser::Result<std::vector<std::string>> names_in(const std::string& folder);

struct FilePiece {
  std::int64_t size_bytes = 0;  // of the file
  std::int64_t offset = 0;      // where `text` begins
  std::string text;
};

// Up to `bytes_max` bytes of `file`; without an offset, those at its end. Empty where there is no
// such file (yet). Fails as above, and where it is no regular file.
parser::Result<FilePiece> read_piece(const std::string& file, std::optional<std::int64_t> offset,
                                     std::int64_t bytes_max);

// To read as a whole; closed where there is no such file (yet). Fails as above.
parser::Result<parser::FileDescriptor> open_job_file(const std::string& file);

}  // namespace llmb::dispatch
