#include "runner/checkpoint/shard_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace llmb::runner {
namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "shard files are little-endian");

constexpr std::array<char, 8> kMagic = {'L', 'L', 'M', 'B', 'S', 'H', '0', '1'};

constexpr std::size_t kPreambleBytes = 20;

Json to_json(const ShardPiece& piece) {
  return {{"name", piece.name},        {"state", piece.state},
          {"shape", piece.shape},      {"local_shape", piece.local_shape},
          {"origin", piece.origin},    {"first", piece.first},
          {"count", piece.count},      {"offset", piece.offset},
          {"checksum", piece.checksum}};
}

ShardPiece piece_from_json(const Json& json) {
  ShardPiece piece;
  json.at("name").get_to(piece.name);
  json.at("state").get_to(piece.state);
  json.at("shape").get_to(piece.shape);
  json.at("local_shape").get_to(piece.local_shape);
  json.at("origin").get_to(piece.origin);
  json.at("first").get_to(piece.first);
  json.at("count").get_to(piece.count);
  json.at("offset").get_to(piece.offset);
  json.at("checksum").get_to(piece.checksum);
  return piece;
}

std::vector<std::byte> preamble_for(std::span<const std::byte> header) {
  const std::uint64_t length = header.size();
  const std::uint32_t checksum = checksum_of(header);
  std::vector<std::byte> bytes(kPreambleBytes);
  std::memcpy(bytes.data(), kMagic.data(), 8);
  std::memcpy(bytes.data() + 8, &length, 8);
  std::memcpy(bytes.data() + 16, &checksum, 4);
  return bytes;
}

}  // namespace

std::string ShardPiece::str() const {
  return state + " of " + name;
}

std::uint32_t checksum_of(std::span<const std::byte> bytes) {
  constexpr std::size_t kOnceMax = std::size_t{1} << 30U;  // zlib counts in 32 bits
  uLong sum = crc32(0, nullptr, 0);
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), kOnceMax);
    sum = crc32(sum, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(count));
    bytes = bytes.subspan(count);
  }
  return static_cast<std::uint32_t>(sum);
}

std::uint64_t write_shard(const std::filesystem::path& path, ElementType type,
                          std::vector<ShardPiece> pieces,
                          const std::vector<std::span<const std::byte>>& elements) {
  Json header = {{"element_type", name_of(type)}, {"pieces", Json::array()}};
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    pieces[i].offset = offset;
    pieces[i].checksum = checksum_of(elements[i]);
    offset += elements[i].size();
    header["pieces"].push_back(to_json(pieces[i]));
  }
  const std::string text = header.dump();
  const auto header_bytes = std::as_bytes(std::span(text));
  const std::vector<std::byte> preamble = preamble_for(header_bytes);
  std::vector<std::span<const std::byte>> parts = {preamble, header_bytes};
  parts.insert(parts.end(), elements.begin(), elements.end());
  write_durably(path, parts);
  return kPreambleBytes + text.size() + offset;
}

void ShardReader::damaged(const std::string& what) const {
  throw CheckpointError("checkpoint file " + path_.string() + " is damaged: " + what);
}

ShardReader::ShardReader(std::filesystem::path path, ElementType type, std::uint64_t expected_size)
    : path_(std::move(path)), type_(type) {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path_, error);
  if (error) {
    throw CheckpointError("could not read checkpoint file " + path_.string() + ": " +
                          error.message());
  }
  if (size != expected_size) {
    damaged(fmt::format("it has {} bytes, and the manifest says {}", size, expected_size));
  }
  if (size < kPreambleBytes) damaged("it ends within its preamble");
  const std::vector<std::byte> preamble = read_bytes(0, kPreambleBytes);
  if (std::memcmp(preamble.data(), kMagic.data(), kMagic.size()) != 0) {
    damaged("it does not begin as a shard does");
  }
  std::uint64_t header_bytes = 0;
  std::uint32_t header_checksum = 0;
  std::memcpy(&header_bytes, preamble.data() + 8, 8);
  std::memcpy(&header_checksum, preamble.data() + 16, 4);
  if (header_bytes > size - kPreambleBytes) damaged("its header is longer than the file");
  const std::vector<std::byte> header = read_bytes(kPreambleBytes, header_bytes);
  if (checksum_of(header) != header_checksum) damaged("the checksum of its header is another");
  data_offset_ = kPreambleBytes + header_bytes;
  const char* text = reinterpret_cast<const char*>(header.data());
  try {
    const Json json = Json::parse(text, text + header.size());
    const auto saved_type = json.at("element_type").get<std::string>();
    if (saved_type != name_of(type_)) {
      throw CheckpointError("checkpoint file " + path_.string() + " holds " + saved_type +
                            ", and this run trains in " + name_of(type_));
    }
    for (const Json& piece : json.at("pieces")) pieces_.push_back(piece_from_json(piece));
  } catch (const Json::exception& wrong) {
    damaged(wrong.what());
  }
}

std::vector<std::byte> ShardReader::read_bytes(std::uint64_t offset, std::uint64_t count) const {
  std::vector<std::byte> bytes(count);
  std::ifstream stream(path_, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(offset));
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(count));
  if (!stream) damaged(fmt::format("it could not be read at byte {}", offset));
  return bytes;
}

std::vector<std::byte> ShardReader::read(const ShardPiece& piece) const {
  const std::uint64_t bytes = static_cast<std::uint64_t>(piece.count) * bytes_of(type_);
  std::vector<std::byte> elements = read_bytes(data_offset_ + piece.offset, bytes);
  const std::uint32_t checksum = checksum_of(elements);
  if (checksum != piece.checksum) {
    damaged(fmt::format("the checksum of {} is {}, and its header says {}", piece.str(), checksum,
                        piece.checksum));
  }
  return elements;
}

}  // namespace llmb::runner
