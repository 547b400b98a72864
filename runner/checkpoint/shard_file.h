// ShardFile: what one rank puts into a checkpoint: stretches of parameters and of their optimizer
// states, each with a checksum and with the place it has in the whole parameter, so that any
// layout can take from it what it needs.
//
//   8 bytes "LLMBSH01", 8 bytes length of the header, 4 bytes CRC-32 of the header (all numbers
//   little-endian), the header as JSON, then the pieces' elements at the offsets it states.
//
// CRC-32 (zlib's) and not a faster hash: it runs at the speed of the disks, and the project needs
// zlib anyway.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "runner/checkpoint/durable_file.h"
#include "runner/parallel/communicator.h"

namespace llmb::runner {

// Elements [first, first + count) of one rank's part of a parameter, counted row-major in it.
struct ShardPiece {
  std::string name;   // the parameter's
  std::string state;  // "master", "first_moment", "second_moment"; see scaling_pieces.h
  std::vector<std::int64_t> shape;        // of the whole parameter
  std::vector<std::int64_t> local_shape;  // of that rank's part
  std::vector<std::int64_t> origin;       // of that rank's part in the whole
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::uint64_t offset = 0;  // of its elements, in bytes after the header
  std::uint32_t checksum = 0;

  std::string str() const;  // "first_moment of head.weight"
};

// `elements[i]` are those of pieces[i], whose offset and checksum are set here. Returns the file's
// size in bytes.
std::uint64_t write_shard(const std::filesystem::path& path, ElementType type,
                          std::vector<ShardPiece> pieces,
                          const std::vector<std::span<const std::byte>>& elements);

class ShardReader {
 public:
  // Reads and checks the header. `expected_size` is what the manifest says.
  ShardReader(std::filesystem::path path, ElementType type, std::uint64_t expected_size);

  const std::vector<ShardPiece>& pieces() const { return pieces_; }
  // Throws CheckpointError, which names file and piece, where the checksum is another.
  std::vector<std::byte> read(const ShardPiece& piece) const;

 private:
  std::vector<std::byte> read_bytes(std::uint64_t offset, std::uint64_t count) const;
  [[noreturn]] void damaged(const std::string& what) const;

  std::filesystem::path path_;
  ElementType type_;
  std::uint64_t data_offset_ = 0;
  std::vector<ShardPiece> pieces_;
};

// CRC-32 as zlib computes it.
std::uint32_t checksum_of(std::span<const std::byte> bytes);

}  // namespace llmb::runner
