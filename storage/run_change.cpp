#include "storage/run_change.h"

#include <algorithm>

#include "parser/foundation/parse_number.h"

namespace llmb::storage {
namespace {

// In the order of RunChange::Kind.
constexpr std::string_view kKindLetters = "agsxr";

constexpr std::string_view kOfAJob = "job ";

}  // namespace

std::string announcement_text(const DataChange& change) {
  std::string revision = std::to_string(change.revision);
  std::string text = revision;
  std::optional<RunChange::Kind> kind;
  for (const RunChange& run : change.runs) {
    text += ' ';
    if (kind != run.kind) text += kKindLetters[static_cast<std::size_t>(run.kind)];
    kind = run.kind;
    text += std::to_string(run.run);
    if (text.size() > kAnnouncementBytesMax) return revision;
  }
  return text;
}

std::string job_announcement_text(JobRowId job) {
  return std::string(kOfAJob) + std::to_string(job);
}

std::optional<DataChange> parse_announcement(std::string_view text) {
  if (text.starts_with(kOfAJob)) {
    const auto job = parser::parse_integer(text.substr(kOfAJob.size()));
    return job ? std::optional(DataChange{0, {}, *job}) : std::nullopt;
  }
  const auto take_word = [&] {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    return word;
  };
  const auto revision = parser::parse_integer(take_word());
  if (!revision) return std::nullopt;
  DataChange change{*revision, {}};
  std::optional<RunChange::Kind> kind;
  while (!text.empty()) {
    std::string_view word = take_word();
    if (word.empty()) return DataChange{*revision, {}};
    if (const auto letter = kKindLetters.find(word.front()); letter != std::string_view::npos) {
      kind = static_cast<RunChange::Kind>(letter);
      word.remove_prefix(1);
    }
    const auto run = parser::parse_integer(word);
    if (!kind || !run) return DataChange{*revision, {}};
    change.runs.push_back({*kind, *run});
  }
  return change;
}

}  // namespace llmb::storage
