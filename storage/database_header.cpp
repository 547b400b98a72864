#include "storage/database_header.h"

namespace llmb::storage {
namespace {

constexpr std::string_view kMagic("SQLite format 3\0", kMagicBytes);
constexpr std::size_t kPageSizeAt = 16;  // two bytes; 1 means 65,536
constexpr std::size_t kReservedBytesAt = 20;
constexpr std::size_t kPageCountAt = 28;
constexpr std::size_t kSchemaCookieAt = 40;  // 0 until a first table was made
constexpr std::size_t kApplicationIdAt = 68;

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

}  // namespace

bool begins_as_database(std::string_view header) {
  return header.starts_with(kMagic);
}

bool is_of_another_program(std::string_view header) {
  if (header.size() < kHeaderBytes || !begins_as_database(header)) return false;
  const bool has_tables = big_endian(header, kSchemaCookieAt) != 0;
  return has_tables && big_endian(header, kApplicationIdAt) != kApplicationId;
}

int reserved_bytes_by_header(std::string_view header) {
  if (header.size() < kHeaderBytes || !begins_as_database(header)) return 0;
  return static_cast<unsigned char>(header[kReservedBytesAt]);
}

std::uint64_t bytes_by_header(std::string_view header) {
  if (header.size() < kHeaderBytes || !begins_as_database(header)) return 0;
  const std::uint64_t page_size = big_endian(header, kPageSizeAt) >> 16;
  return std::uint64_t{big_endian(header, kPageCountAt)} * (page_size == 1 ? 65'536 : page_size);
}

}  // namespace llmb::storage
