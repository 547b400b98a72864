#include "server/report/joined_logs.h"

#include <re2/re2.h>

namespace llmb::report {
namespace {

constexpr std::size_t kBeginningBytes = std::size_t{64} << 10U;
// More than Linux takes for a path, what stands around it, and the line's end.
constexpr std::size_t kLineBeginningBytes = 4096 + 16;

// What logs are called: "log_1.out", "run.log.gz", "train.o4711".
const std::string kLogName = R"([^\s:/]\.(?:out|log|txt|err|[oe]\d+)(?:\.(?:gz|zst|xz|bz2))?)";

// "runs/log_1.out:", and of lines around a match "runs/log_1.out-" (grep -C). No blanks: "cat:
// run.log: No such file" is a log's own line.
bool find_name(std::string_view line, re2::StringPiece& name) {
  static const RE2 matched("^([^\\s:]*" + kLogName + "):", RE2::Latin1);
  static const RE2 around("^([^\\s:]*" + kLogName + ")-", RE2::Latin1);
  return RE2::PartialMatch(line, matched, &name) || RE2::PartialMatch(line, around, &name);
}

bool is_named(std::string_view line) {
  re2::StringPiece name;
  return find_name(line, name);
}

// A script's own banner is none: "==> Setting up the container <==".
const RE2& header_line() {
  static const RE2 pattern("^==> ([^\n]*" + kLogName + ") <==\r?\n", RE2::Latin1);
  return pattern;
}

}  // namespace

void JoinedLogs::feed(std::string_view bytes) {
  if (form_ == Form::one_log) return take_({}, bytes);
  if (form_ != Form::not_known && held_.empty()) {
    held_ = bytes.substr(pass_lines(bytes, false));
    return;
  }
  held_ += bytes;
  if (form_ == Form::not_known) look_at_beginning(false);
  if (form_ != Form::not_known) held_.erase(0, pass_lines(held_, false));
}

void JoinedLogs::finish() {
  if (form_ == Form::not_known) look_at_beginning(true);
  pass_lines(held_, true);
  held_.clear();
  pass_held_end();
}

// A single line may begin like that by chance, so the second has to as well, where there is one.
void JoinedLogs::look_at_beginning(bool is_all) {
  const std::size_t first_end = held_.find('\n');
  const bool has_first = first_end != std::string::npos;
  const bool has_second = has_first && held_.find('\n', first_end + 1) != std::string::npos;
  if (!has_second && !is_all && held_.size() < kBeginningBytes) return;
  const std::string_view second = std::string_view(held_).substr(has_first ? first_end + 1 : 0);
  if (RE2::PartialMatch(held_, header_line())) {
    form_ = Form::headed;
  } else if (is_named(held_) && (second.empty() || is_named(second))) {
    form_ = Form::named_lines;
  } else {
    form_ = Form::one_log;
  }
}

std::size_t JoinedLogs::pass_lines(std::string_view bytes, bool is_all) {
  if (form_ == Form::one_log) {
    if (!bytes.empty()) take_({}, bytes);
    return bytes.size();
  }
  std::size_t done = 0;
  while (done < bytes.size()) {
    std::string_view rest = bytes.substr(done);
    const std::size_t end = rest.find('\n');
    if (!is_in_line_) {
      const bool may_have_more = end == std::string_view::npos && !is_all;
      if (may_have_more && rest.size() < kLineBeginningBytes) return done;
      const std::size_t passed_over = read_name(rest);
      is_in_line_ = form_ != Form::headed || passed_over == 0;
      done += passed_over;
      if (passed_over > 0) continue;
    }
    rest = rest.substr(0, end == std::string_view::npos ? end : end + 1);
    pass(rest);
    done += rest.size();
    is_in_line_ = end == std::string_view::npos;
  }
  return done;
}

std::size_t JoinedLogs::read_name(std::string_view line) {
  re2::StringPiece name;
  const bool is_headed = form_ == Form::headed;
  if (!(is_headed ? RE2::PartialMatch(line, header_line(), &name) : find_name(line, name)))
    return 0;
  name_.assign(name.data(), name.size());
  if (!is_headed) return name.size() + 1;
  holds_end_ = false;
  take_(name_, {});
  return line.find('\n') + 1;
}

// Whoever names logs above their lines puts an end of a line before each name but the first.
void JoinedLogs::pass(std::string_view text) {
  pass_held_end();
  if (form_ == Form::headed && text.ends_with('\n')) {
    text.remove_suffix(1);
    holds_end_ = true;
  }
  if (!text.empty()) take_(name_, text);
}

void JoinedLogs::pass_held_end() {
  if (holds_end_) take_(name_, "\n");
  holds_end_ = false;
}

}  // namespace llmb::report
