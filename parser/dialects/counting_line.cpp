#include "parser/dialects/counting_line.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "parser/dialects/leading_share.h"
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

// "rank0 stdout: ", "rank12.stdout": who printed the line, as a supervisor labels it.
bool is_label_of_output(std::string_view text, std::string_view word, std::size_t at) {
  if (word != "rank") return false;
  const std::size_t digits = length_of_run(text, at + word.size(), is_digit);
  const std::string_view behind = text.substr(at + word.size() + digits);
  return digits > 0 && (behind.starts_with(" stdout") || behind.starts_with(".stdout"));
}

bool is_no_number(std::string_view word) {
  return equal_but_for_case(word, "nan") || equal_but_for_case(word, "inf");
}

// What bars, signs and alignment make of a line is not its shape.
bool is_of_shape(char c) {
  constexpr std::string_view kOfBars = " \t-+.#=>";
  return static_cast<unsigned char>(c) < 0x80 && kOfBars.find(c) == std::string_view::npos;
}

// "it=40", and behind a program's name "train: it 40".
bool is_it(std::string_view text, std::string_view word, std::size_t at) {
  if (word != "it") return false;
  const std::string_view before =
      text.substr(0, static_cast<std::size_t>(word.data() - text.data()));
  return text[at - 1] == '=' || before.ends_with(": ") || before.ends_with("| ");
}

bool names_an_epoch(std::string_view word) {
  return word.ends_with("poch");
}

// "40 it", "1200 steps": the whole number from `begin` to `end` with its unit behind it; not
// "40 it/s", "2.5 it".
bool counts_a_unit(std::string_view text, std::size_t begin, std::size_t end) {
  constexpr auto kUnitsBehind = std::to_array<std::string_view>(
      {"it", "its", "iter", "iters", "iterations", "step", "steps", "updates", "batches"});
  const bool is_part = begin > 0 && (text[begin - 1] == '.' || text[begin - 1] == '/');
  const bool is_whole = std::all_of(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                    text.begin() + static_cast<std::ptrdiff_t>(end), is_digit);
  if (is_part || !is_whole) return false;
  if (text.substr(end, 1) == " ") ++end;
  const std::string_view unit = text.substr(end, length_of_run(text, end, is_word_of_a_count));
  const bool is_rate = text.substr(end + unit.size(), 1) == "/";
  return !is_rate &&
         std::find(kUnitsBehind.begin(), kUnitsBehind.end(), unit) != kUnitsBehind.end();
}

// "9000/20000 [1:02:31<3:49:10": the count of a progress bar, from `begin` to `end`; not a day,
// "2025/10/10 [".
bool counts_on_a_bar(std::string_view text, std::size_t begin, std::size_t end) {
  const bool is_part = begin > 0 && text[begin - 1] == '/';
  if (is_part || text.substr(end, 1) != "/") return false;
  const std::size_t digits = length_of_run(text, end + 1, is_digit);
  return digits > 0 && text.substr(end + 1 + digits).starts_with(" [");
}

// "2025-06-04", "02:21:21.896": what a clock says is no count.
bool is_of_a_time(std::string_view text, std::size_t begin, std::size_t end) {
  const auto joins = [](char c) { return c == ':' || c == '-'; };
  const bool has_before = begin >= 2 && joins(text[begin - 1]) && is_digit(text[begin - 2]);
  const bool has_behind = end + 1 < text.size() && joins(text[end]) && is_digit(text[end + 1]);
  return has_before || has_behind;
}

// "2.52", not a part of "10.41.0.17".
bool has_decimals(std::string_view text, std::size_t begin, std::size_t end) {
  const bool is_a_part =
      (begin > 0 && text[begin - 1] == '.') || (end < text.size() && text[end] == '.');
  return !is_a_part && text.substr(begin, end - begin).find('.') != std::string_view::npos;
}

// How far a line's counts have come: "600/600", "4 of 10".
struct Progress {
  int known = 0;  // counts whose end is told
  int ended = 0;  // those of them that are there
};

Progress progress_of(std::string_view line) {
  Progress progress;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t digits = length_of_run(line, at, is_digit);
    if (digits == 0) {
      ++at;
      continue;
    }
    const char before = at == 0 ? ' ' : line[at - 1];
    const bool is_part = before == '.' || before == '/' || before == '-' || is_letter(before);
    const auto share = is_part ? std::nullopt : leading_share(line.substr(at));
    at += digits;
    if (!share || share->whole < 2) continue;
    ++progress.known;
    if (share->part == share->whole) ++progress.ended;
  }
  return progress;
}

bool is_of_training(std::string_view line) {
  const std::string words = lower(line);
  const auto counted = read_counting_line(line);
  const bool has_loss = words.find("loss") != std::string::npos ||
                        words.find("ppl") != std::string::npos ||
                        words.find("nll") != std::string::npos;
  return counted && (counted->names_its_counts || has_loss);
}

bool is_whole(double number) {
  constexpr double kRounding = 1e-6;
  return std::abs(number - std::round(number)) <= kRounding;
}

// Whether a number that rises so may be a count. One that rises by 1 may number the ranks of a
// node; figures with decimals (degrees, gibibytes) rise alike by chance, but for one that has been
// counted from 0 on ("8.4 M", "12.6 M").
bool may_count_by(double number, double rise) {
  constexpr double kRanksOfANode = 16;
  constexpr double kFineRisesMax = 100;
  if (is_whole(number) && is_whole(rise)) return rise > 1 || number > kRanksOfANode;
  return is_whole(number / rise) && (rise >= 1 || number <= kFineRisesMax * rise);
}

}  // namespace

bool CountingLine::counts_on(const CountingLine& earlier, const Numbers& rises) const {
  constexpr double kRounding = 1e-9;
  if (!counts_without_name || shape != earlier.shape) return false;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double rise = numbers[i] - earlier.numbers[i];
    const bool is_equal = std::abs(rise - rises[i]) <= kRounding * std::abs(numbers[i]);
    if (rise > 0 && is_equal && may_count_by(numbers[i], rise)) return true;
  }
  return false;
}

std::optional<CountingLine> read_counting_line(std::string_view text) {
  text = text.substr(0, kBytesOfACount);
  CountingLine line;
  std::size_t found = 0;
  std::size_t number_count = 0;
  bool has_figure = false;
  bool tells_of_trouble = false;
  bool names_epochs_only = true;
  std::string_view word;  // the last one before `at` that no number has followed
  std::size_t gap = 0;    // bytes since, but for blanks
  for (std::size_t at = 0; at < text.size();) {
    if (is_word_of_a_count(text[at])) {
      word = text.substr(at, length_of_run(text, at, is_word_of_a_count));
      if (is_no_number(word)) return std::nullopt;
      tells_of_trouble =
          tells_of_trouble || (is_of_trouble(word) && !is_label_of_output(text, word, at));
      line.shape = hash_text(word, line.shape);
      at += word.size();
      gap = 0;
    } else if (is_digit(text[at])) {
      double count = 0;
      const char* const end = text.data() + text.size();
      const auto [stop, error] = std::from_chars(text.data() + at, end, count);
      const auto behind = static_cast<std::size_t>(stop - text.data());
      const bool has_name = gap <= kGapMax && (names_a_count(word) || is_it(text, word, at));
      const bool has_unit = counts_a_unit(text, at, behind) || counts_on_a_bar(text, at, behind);
      const bool is_count = error == std::errc() && (has_name || has_unit);
      if (is_count && found < line.counts.size()) line.counts[found++] = count;
      names_epochs_only = names_epochs_only && (!is_count || (has_name && names_an_epoch(word)));
      const bool may_be_kept = number_count < line.numbers.size();
      if (may_be_kept && !is_of_a_time(text, at, behind)) line.numbers[number_count++] = count;
      line.shape = mix_hash(line.shape + kHashFactor);
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
  line.counts_without_name = names_epochs_only && has_figure && !tells_of_trouble;
  if (!line.names_its_counts && !line.counts_without_name) return std::nullopt;
  return line;
}

bool has_counted_to_the_end(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0) {
    const std::size_t before = text.find_last_of("\r\n", end - 1);
    if (before == std::string_view::npos) return false;
    const std::string_view line = text.substr(before + 1, end - before - 1);
    const Progress progress = progress_of(line);
    if (progress.known > 0 && is_of_training(line)) return progress.ended == progress.known;
    end = before;
  }
  return false;
}

}  // namespace llmb::parser
