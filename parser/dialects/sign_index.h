// SignIndex: which rows of a table of signs a line may be read by, from the literals that the scan
// found in it. A table has hundreds, a line the literals of a few.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parser/lines/literal_set.h"

namespace llmb::parser {

class SignIndex {
 public:
  using Signs = std::span<const std::uint16_t>;  // rows of the table, ascending

  // `scanned`: the scanner's literals, sorted; `sign_literals`: of each row. Throws
  // std::logic_error where the scanner would not find a row's line.
  SignIndex(const std::vector<std::string>& scanned,
            std::span<const std::string_view> sign_literals);

  // Of the scanner's literals those that lead to a sign.
  const LiteralSet& literals() const { return literals_; }

  // Replaces `signs` by all rows whose literal may be in the line: those left out are not in it.
  void find(const LiteralSet& found, std::vector<std::uint16_t>& signs) const;

 private:
  LiteralSet literals_;
  std::vector<std::vector<std::uint16_t>> signs_;  // by literal of the scanner
};

}  // namespace llmb::parser
