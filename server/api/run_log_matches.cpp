// GET /api/v1/runs/{id}/log/matches?text=&pattern=&from=&limit=: the lines of a run's log that hold
// a text, or that a regular expression finds.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "server/api/json.h"
#include "server/api/query_parameters.h"
#include "server/api/request_error.h"
#include "server/api/resources.h"
#include "server/api/run_log_text.h"
#include "server/api/tagged_response.h"
#include "server/report/log_matches.h"

namespace llmb::api {
namespace {

constexpr std::size_t kPatternBytesMax = 500;
constexpr std::uint64_t kReadBytes = std::uint64_t{1} << 20U;
// Less than a file system is waited for: what was found until then is answered, with where to go
// on.
constexpr std::chrono::seconds kSearchTime{2};

report::LinePattern pattern_of(const QueryParameters& parameters) {
  const auto text = parameters.text("text");
  const auto expression = parameters.text("pattern");
  if (text.has_value() == expression.has_value()) {
    throw bad_request("Give `text`, or `pattern`, a regular expression; one of the two.");
  }
  if (text.value_or(expression.value_or("")).size() > kPatternBytesMax) {
    throw bad_request(fmt::format("What is looked for has {} bytes at most.", kPatternBytesMax));
  }
  if (text) return report::LinePattern::of_text(*text);
  auto pattern = report::LinePattern::of_expression(*expression);
  if (!pattern) {
    throw bad_request(fmt::format("`pattern` is no regular expression as RE2 knows them: {}.",
                                  pattern.error().message));
  }
  return *std::move(pattern);
}

// The text from a byte on, a read at a time.
class TextBlocks {
 public:
  explicit TextBlocks(const RunLogText& text) : text_(text) {}

  report::LogBlock from(std::uint64_t offset) {
    const std::uint64_t end = offset + std::min(kReadBytes, text_.size_bytes - offset);
    auto pieces = text_.read(offset, end);
    if (pieces.empty()) return {{}, end, end >= text_.size_bytes};
    piece_ = std::move(pieces.front());
    const std::uint64_t begin = std::max(offset, piece_.offset);
    const std::string_view bytes = std::string_view(piece_.bytes).substr(begin - piece_.offset);
    // A file that became shorter meanwhile ends there.
    const bool is_over = bytes.empty() || begin + bytes.size() >= text_.size_bytes;
    return {bytes, begin, is_over};
  }

 private:
  const RunLogText& text_;
  TextPiece piece_;
};

Json matches_json(const RunLogText& text, const report::LinePattern& pattern,
                  report::LogSearch search) {
  search.from = std::min(search.from, text.size_bytes);
  const auto until = std::chrono::steady_clock::now() + kSearchTime;
  search.goes_on = [until] { return std::chrono::steady_clock::now() < until; };
  TextBlocks blocks(text);
  Json json = {{"size_bytes", text.size_bytes}};
  json.update(report::log_matches_json(report::find_lines(
      pattern, search, [&](std::uint64_t offset) { return blocks.from(offset); })));
  return json;
}

}  // namespace

http::Response get_run_log_matches(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {"text", "pattern", "from", "limit"});
  const storage::RunId id = id_parameter(request);
  const auto pattern = std::make_shared<const report::LinePattern>(pattern_of(parameters));
  report::LogSearch search;
  search.from = static_cast<std::uint64_t>(parameters.integer("from", 0, INT64_MAX).value_or(0));
  search.lines_max = static_cast<std::size_t>(parameters.limit());
  Json json = {{"run_id", id}};
  json.update(ask_log_text(context, id, [pattern, search](const RunLogText& text) {
    return matches_json(text, *pattern, search);
  }));
  return hashed_response(to_text(json));
}

}  // namespace llmb::api
