// NameTable: the texts by which the values of an enum are stored and shown, as one constexpr table.
// Serves both directions; a value or a text that stands twice does not compile.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace llmb::parser {

template <typename Value>
struct NameRow {
  Value value;
  std::string_view name;
};

template <typename Value, std::size_t Size>
class NameTable {
 public:
  consteval explicit NameTable(const NameRow<Value> (&rows)[Size]) : rows_(std::to_array(rows)) {
    for (std::size_t i = 0; i < Size; ++i) {
      for (std::size_t other = 0; other < i; ++other) {
        if (rows_[i].value == rows_[other].value || rows_[i].name == rows_[other].name) {
          throw "a value or a name stands twice in the table";
        }
      }
    }
  }

  // Every value of the enum should have a row; one that has none is called as the first row is.
  constexpr std::string_view name(Value value) const {
    for (const NameRow<Value>& row : rows_) {
      if (row.value == value) return row.name;
    }
    return rows_[0].name;
  }

  constexpr std::optional<Value> value(std::string_view name) const {
    for (const NameRow<Value>& row : rows_) {
      if (row.name == name) return row.value;
    }
    return std::nullopt;
  }

  // All names in the order of the table, for messages: "bf16, fp8_cs, fp8_mx".
  std::string names(std::string_view separator = ", ") const {
    std::string text;
    for (const NameRow<Value>& row : rows_) {
      if (!text.empty()) text += separator;
      text += row.name;
    }
    return text;
  }

  constexpr auto begin() const { return rows_.begin(); }
  constexpr auto end() const { return rows_.end(); }
  constexpr std::size_t size() const { return Size; }

 private:
  std::array<NameRow<Value>, Size> rows_;
};

// constexpr auto kNames = name_table<Color>({{Color::red, "red"}, {Color::blue, "blue"}});
template <typename Value, std::size_t Size>
consteval NameTable<Value, Size> name_table(const NameRow<Value> (&rows)[Size]) {
  return NameTable<Value, Size>(rows);
}

}  // namespace llmb::parser
