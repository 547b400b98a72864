// What PostgreSQL's own forms of text and of statements ask for.
#pragma once

#include <string>
#include <string_view>

namespace llmb::storage {

// PostgreSQL holds no zero byte and, in a database of UTF-8, nothing else than UTF-8; paths and
// lines of logs may hold anything. A byte that it would refuse becomes the byte 1 with two
// hexadecimal digits, and so does the byte 1 itself. Texts without such bytes stay as they are.
std::string postgresql_text(std::string_view text);
std::string from_postgresql_text(std::string_view stored);

// A value as COPY's text form has it: what would end a value, a row or an escape is escaped.
void append_copied_text(std::string& line, std::string_view stored);
void append_copied_bytes(std::string& line, std::string_view bytes);  // of a column of bytes

// Numbered parameters: "a = ? AND b = ?1" -> "a = $1 AND b = $1". A `?` in a literal stays.
struct NumberedSql {
  std::string sql;
  int parameters = 0;
};
NumberedSql with_numbered_parameters(std::string_view sql);

}  // namespace llmb::storage
