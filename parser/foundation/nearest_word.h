// The known word that a mistyped one was probably meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llmb::parser {

// By insertions, deletions, exchanges and swaps of neighbouring letters. Empty where nothing is
// near: more than a third of the word's letters would have to change.
std::string nearest_word(std::string_view typed, const std::vector<std::string>& known);

// "; did you mean 'parse'?", or nothing.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& known);

}  // namespace llmb::parser
