#include "parser/dialects/counting_line.h"

#include <algorithm>
#include <charconv>
#include <cmath>

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

// What is repeated by who waits or gives up has counts, too: "retry 3 of 5 in 4.0 s".
bool is_of_trouble(std::string_view word) {
  constexpr auto kBeginnings = std::to_array<std::string_view>(
      {"abort", "attempt", "back",  "cancel",  "connect", "crash",   "dead",  "died",    "ended",
       "error", "exce",    "exit",  "fail",    "hang",    "heart",   "hung",  "kill",    "lost",
       "poll",  "retr",    "rank",  "sigkill", "signal",  "sigterm", "sleep", "stuck",   "task",
       "term",  "timeout", "tries", "try",     "unreach", "wait",    "warn",  "watchdog"});
  return std::any_of(kBeginnings.begin(), kBeginnings.end(), [&](std::string_view beginning) {
    return word.size() >= beginning.size() &&
           equal_but_for_case(word.substr(0, beginning.size()), beginning);
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

// "2.52", not a part of "10.41.0.17".
bool has_decimals(std::string_view text, std::size_t begin, std::size_t end) {
  const bool is_a_part =
      (begin > 0 && text[begin - 1] == '.') || (end < text.size() && text[end] == '.');
  return !is_a_part && text.substr(begin, end - begin).find('.') != std::string_view::npos;
}

}  // namespace

bool CountingLine::counts_on(const CountingLine& earlier,
                             const std::array<double, kCountsMax>& rises) const {
  constexpr double kRounding = 1e-9;
  if (shape != earlier.shape) return false;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double rise = counts[i] - earlier.counts[i];
    if (rise > 0 && std::abs(rise - rises[i]) <= kRounding * std::abs(counts[i])) return true;
  }
  return false;
}

std::optional<CountingLine> read_counting_line(std::string_view text) {
  text = text.substr(0, kBytesOfACount);
  CountingLine line;
  std::size_t found = 0;
  std::array<double, CountingLine::kCountsMax> numbers{};
  std::size_t number_count = 0;
  bool has_figure = false;
  bool tells_of_trouble = false;
  std::string_view word;  // the last one before `at` that no number has followed
  std::size_t gap = 0;    // bytes since, but for blanks
  for (std::size_t at = 0; at < text.size();) {
    if (is_word_of_a_count(text[at])) {
      word = text.substr(at, length_of_run(text, at, is_word_of_a_count));
      if (is_no_number(word)) return std::nullopt;
      tells_of_trouble = tells_of_trouble || is_of_trouble(word);
      line.shape = hash_text(word, line.shape);
      at += word.size();
      gap = 0;
    } else if (is_digit(text[at])) {
      double count = 0;
      const char* const end = text.data() + text.size();
      const auto [stop, error] = std::from_chars(text.data() + at, end, count);
      const bool is_count = error == std::errc() && gap <= kGapMax && names_a_count(word);
      if (is_count && found < line.counts.size()) line.counts[found++] = count;
      if (number_count < numbers.size()) numbers[number_count++] = count;
      line.shape = mix_hash(line.shape + kHashFactor);
      const auto behind = static_cast<std::size_t>(stop - text.data());
      has_figure = has_figure || has_decimals(text, at, behind);
      at = std::max(at + 1, behind);
      word = {};
    } else {
      const char c = text[at++];
      if (is_of_shape(c)) line.shape = hash_text({&c, 1}, line.shape);
      if (c != ' ') ++gap;
    }
  }
  line.names_its_counts = found > 0;
  if (line.names_its_counts) return line;
  if (!has_figure || tells_of_trouble) return std::nullopt;
  line.counts = numbers;
  return line;
}

}  // namespace llmb::parser
