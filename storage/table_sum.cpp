#include "storage/table_sum.h"

#include <bit>
#include <string_view>

#include "parser/foundation/text_hash.h"

namespace llmb::storage {
namespace {

// Each kind of value has a seed of its own, so that the text "1" is not the number.
std::uint64_t hash_of(const StoredValue& value) {
  const std::uint64_t seed = value.index();
  if (const auto* const text = std::get_if<std::string>(&value)) {
    return parser::hash_text(*text, seed);
  }
  if (const auto* const bytes = std::get_if<StoredBytes>(&value)) {
    return parser::hash_text(bytes->bytes, seed);
  }
  std::uint64_t bits = 0;
  if (const auto* const integer = std::get_if<std::int64_t>(&value)) {
    bits = static_cast<std::uint64_t>(*integer);
  } else if (const auto* const real = std::get_if<double>(&value)) {
    bits = std::bit_cast<std::uint64_t>(*real == 0 ? 0.0 : *real);
  }
  return parser::mix_hash(bits ^ seed * parser::kHashFactor);
}

}  // namespace

void TableSum::add(const StoredRow& row) {
  std::uint64_t hash = 0;
  for (const StoredValue& value : row) {
    hash = parser::mix_hash((hash ^ hash_of(value)) * parser::kHashFactor);
  }
  checksum += hash;
  ++rows;
}

TableSum sum_of(Connection& connection, const TableLayout& layout, std::optional<IdRange> range) {
  TableSum sum;
  RowPages pages(connection, layout, range);
  for (const auto* rows = &pages.next(); !rows->empty(); rows = &pages.next()) {
    for (const StoredRow& row : *rows) sum.add(row);
  }
  return sum;
}

}  // namespace llmb::storage
