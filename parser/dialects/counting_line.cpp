#include "parser/dialects/counting_line.h"

#include <algorithm>
#include <charconv>

#include "parser/foundation/text.h"
#include "parser/foundation/text_hash.h"

namespace llmb::parser {
namespace {

// Counts stand at the beginning of a line.
constexpr std::size_t kBytesOfACount = 600;
// Between a count's name and the count: "'epoch': 0.6", "step=10", "[batch=10/100]".
constexpr std::size_t kGapMax = 3;

constexpr auto kUnits =
    std::to_array<std::string_view>({"step", "steps", "iter", "iters", "iteration", "batch",
                                     "epoch", "update", "updates", "samples", "tokens"});

bool is_word_of_a_count(char c) {
  return is_letter(c) || c == '_';
}

// "step", "Epoch", "global_step"; not "STEP 44.0", which schedulers begin and end.
bool names_a_count(std::string_view word) {
  if (word.empty()) return false;
  const std::size_t underscore = word.rfind('_');
  if (underscore != std::string_view::npos) word.remove_prefix(underscore + 1);
  return std::any_of(kUnits.begin(), kUnits.end(), [&](std::string_view unit) {
    return word.size() == unit.size() && lower(word.front()) == unit.front() &&
           word.substr(1) == unit.substr(1);
  });
}

bool is_no_number(std::string_view word) {
  return equal_but_for_case(word, "nan") || equal_but_for_case(word, "inf");
}

// What bars, signs and alignment make of a line is not its shape.
bool is_of_shape(char c) {
  constexpr std::string_view kOfBars = " \t-+.#=>";
  return static_cast<unsigned char>(c) < 0x80 && kOfBars.find(c) == std::string_view::npos;
}

}  // namespace

std::optional<CountingLine> read_counting_line(std::string_view text) {
  text = text.substr(0, kBytesOfACount);
  CountingLine line;
  std::size_t found = 0;
  std::string_view word;  // the last one before `at` that no number has followed
  std::size_t gap = 0;    // bytes since, but for blanks
  for (std::size_t at = 0; at < text.size();) {
    if (is_word_of_a_count(text[at])) {
      word = text.substr(at, length_of_run(text, at, is_word_of_a_count));
      if (is_no_number(word)) return std::nullopt;
      line.shape = hash_text(word, line.shape);
      at += word.size();
      gap = 0;
    } else if (is_digit(text[at])) {
      double count = 0;
      const char* const end = text.data() + text.size();
      const auto [stop, error] = std::from_chars(text.data() + at, end, count);
      const bool is_count = error == std::errc() && gap <= kGapMax && names_a_count(word);
      if (is_count && found < line.counts.size()) line.counts[found++] = count;
      line.shape = mix_hash(line.shape + kHashFactor);
      at = std::max(at + 1, static_cast<std::size_t>(stop - text.data()));
      word = {};
    } else {
      const char c = text[at++];
      if (is_of_shape(c)) line.shape = hash_text({&c, 1}, line.shape);
      if (c != ' ') ++gap;
    }
  }
  return found > 0 ? std::optional(line) : std::nullopt;
}

}  // namespace llmb::parser
