#include "parser/dialects/end_words.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "parser/dialects/failure_class.h"
#include "parser/dialects/line_weight.h"
#include "parser/foundation/text.h"

namespace llmb::parser {
namespace {

constexpr std::size_t kBytesOfAnEnd = 300;

using EndWords = std::span<const std::string_view>;

// As words of their own; "sagemaker-training-toolkit" is a program's name.
// Not of a count: "rounds completed: 1".
bool holds_one_as_a_word(std::string_view text, EndWords words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    for (std::size_t at = text.find(word); at != std::string_view::npos;
         at = text.find(word, at + 1)) {
      const std::size_t end = at + word.size();
      const bool begins = at == 0 || !is_letter(text[at - 1]);
      const std::string_view rest = text.substr(end);
      const bool counts = rest.starts_with(": ") && rest.size() > 2 && is_digit(rest[2]);
      const bool is_whole = rest.empty() || (!is_letter(rest.front()) && rest.front() != '-');
      if (begins && is_whole && !counts) return true;
    }
    return false;
  });
}

// Whether a name of a status stands at the end of `text`, behind which its value stands.
bool names_a_status(std::string_view text) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"code", "exit", "rc", "returned", "status", "exited with", "exits with", "ended with",
       "finished with", "completed with"});
  // Of JSON's keys "status" may be of anything.
  constexpr auto kKeys = std::to_array<std::string_view>({"code", "exit", "rc", "returned"});
  const auto trim = [&](std::string_view separators) {
    const std::size_t end = text.find_last_not_of(separators);
    text = text.substr(0, end == std::string_view::npos ? 0 : end + 1);
  };
  trim(" =:");
  const bool is_key = text.ends_with('"') || text.ends_with('\'');
  trim("\"'");
  const EndWords names = is_key ? EndWords(kKeys) : EndWords(kNames);
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    if (!text.ends_with(name)) return false;
    const std::size_t begin = text.size() - name.size();
    return begin == 0 || !is_letter(text[begin - 1]);
  });
}

// "exit code 0", "rc=0", "\"rc\":0", "returned 0", "exited with 0"; not "returned 0.3".
bool tells_of_status_0(std::string_view text) {
  for (std::size_t at = text.find('0'); at != std::string_view::npos; at = text.find('0', at + 1)) {
    constexpr std::string_view kBefore = " =:";
    constexpr std::string_view kBehind = " ,;.)}'\"";
    if (at == 0 || kBefore.find(text[at - 1]) == std::string_view::npos) continue;
    const std::string_view rest = text.substr(at + 1);
    const bool is_whole = rest.empty() || kBehind.find(rest.front()) != std::string_view::npos;
    const bool has_decimals = rest.size() > 1 && rest[0] == '.' && is_digit(rest[1]);
    if (is_whole && !has_decimals && names_a_status(text.substr(0, at))) return true;
  }
  return false;
}

// "training finished with 1", "run done, rc=143": a line's last word is another status.
bool ends_with_a_bad_status(std::string_view text) {
  text = trimmed(text, " .)'\"");
  const std::size_t before = text.find_last_not_of("0123456789");
  if (before == std::string_view::npos || before + 1 == text.size()) return false;
  const std::string_view value = text.substr(before + 1);
  constexpr std::size_t kDigitsMax = 3;
  return value.size() <= kDigitsMax && value.find_first_not_of('0') != std::string_view::npos &&
         names_a_status(text.substr(0, before + 1));
}

// `text`: in lower case.
bool tells_of_success(std::string_view text) {
  constexpr auto kEnded =
      std::to_array<std::string_view>({"finished", "complete", "done", "exits", "exited"});
  constexpr auto kWhat = std::to_array<std::string_view>(
      {"training", "pretraining", "finetuning", "fit", "run", "all steps"});
  if (text.find("succeeded") != std::string_view::npos || tells_of_status_0(text)) return true;
  if (!holds_one_of(text, kEnded)) return false;
  if (text.find("successfully") != std::string_view::npos) return true;
  constexpr auto kDone =
      std::to_array<std::string_view>({"finished", "completed", "complete", "done"});
  // "Training container on algo-4 done", "training stage done": whatever ended in it.
  constexpr auto kAround =
      std::to_array<std::string_view>({"container", "containers", "training stage"});
  return !holds_one_as_a_word(text, kAround) && holds_one_as_a_word(text, kDone) &&
         holds_one_as_a_word(text, kWhat);
}

// `text`: in lower case.
bool tells_of_a_last_save(std::string_view text) {
  constexpr auto kWhat =
      std::to_array<std::string_view>({"final checkpoint", "final model", "final weights"});
  constexpr auto kSaved =
      std::to_array<std::string_view>({"saved", "wrote", "written", "stored", "exported"});
  return holds_one_of(text, kWhat) && holds_one_as_a_word(text, kSaved);
}

// `text`: in lower case. Not of a part: "epoch 3: training done".
bool tells_that_all_is_trained(std::string_view text) {
  constexpr auto kAllTrained =
      std::to_array<std::string_view>({"training complete", "training finished", "training done"});
  constexpr auto kParts = std::to_array<std::string_view>(
      {"epoch ", "iteration ", "phase", "stage", "warm", "round ", "fold ", " code "});
  const bool is_told = holds_one_of(text, kAllTrained) || tells_of_a_last_save(text);
  return is_told && !holds_one_of(text, kParts);
}

// `words`: `text` in lower case.
bool is_in_doubt(std::string_view text, std::string_view words) {
  constexpr auto kDoubts = std::to_array<std::string_view>(
      {" not ", "n't", "fail", "error", "incomplete", "abort", "kill", "cancel"});
  return holds_one_of(words, kDoubts) || ends_with_a_bad_status(words) ||
         weight_of(text) <= LineWeight::warning;
}

}  // namespace

bool tells_of_a_good_end(std::string_view text) {
  text = text.substr(0, kBytesOfAnEnd);
  const std::string words = lower(text);
  return tells_of_success(words) && !is_in_doubt(text, words);
}

std::string_view end_of_training(std::string_view text) {
  text = text.substr(0, kBytesOfAnEnd);
  const std::string words = lower(text);
  const bool is_over = tells_that_all_is_trained(words) && !is_in_doubt(text, words);
  return is_over ? kTrainingOver : std::string_view{};
}

}  // namespace llmb::parser
