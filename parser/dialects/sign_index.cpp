#include "parser/dialects/sign_index.h"

#include <algorithm>
#include <stdexcept>

namespace llmb::parser {
namespace {

// The row's literal, or, where a shorter one of the table is searched for in its place, that.
std::size_t literal_of(std::string_view sign_literal, const std::vector<std::string>& scanned,
                       std::span<const std::string_view> of_table) {
  const auto index_of = [&](std::string_view literal) {
    const auto at = std::ranges::lower_bound(scanned, literal);
    return at != scanned.end() && *at == literal ? static_cast<std::size_t>(at - scanned.begin())
                                                 : scanned.size();
  };
  if (const std::size_t own = index_of(sign_literal); own != scanned.size()) return own;
  for (const std::string_view other : of_table) {
    if (sign_literal.find(other) == std::string_view::npos) continue;
    if (const std::size_t shorter = index_of(other); shorter != scanned.size()) return shorter;
  }
  throw std::logic_error("no literal is searched for by which lines with \"" +
                         std::string(sign_literal) + "\" are found");
}

}  // namespace

SignIndex::SignIndex(const std::vector<std::string>& scanned,
                     std::span<const std::string_view> sign_literals)
    : literals_(scanned.size()), signs_(scanned.size()) {
  for (std::size_t sign = 0; sign < sign_literals.size(); ++sign) {
    const std::size_t literal = literal_of(sign_literals[sign], scanned, sign_literals);
    literals_.add(literal);
    signs_[literal].push_back(static_cast<std::uint16_t>(sign));
  }
}

void SignIndex::find(const LiteralSet& found, std::vector<std::uint16_t>& signs) const {
  signs.clear();
  std::size_t literal_count = 0;
  found.for_each_common(literals_, [&](std::size_t literal) {
    signs.insert(signs.end(), signs_[literal].begin(), signs_[literal].end());
    ++literal_count;
  });
  if (literal_count > 1) std::ranges::sort(signs);
}

}  // namespace llmb::parser
