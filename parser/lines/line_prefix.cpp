#include "parser/lines/line_prefix.h"

#include <algorithm>
#include <cstddef>

#include "parser/foundation/text.h"
#include "parser/lines/line_cleaner.h"

namespace llmb::parser {
namespace {

// Each *_length returns how much of the line's beginning is its prefix, 0 where there is none.

// The zone behind a stamp of RFC 3339: "Z", "+02:00".
std::size_t zone_length(std::string_view text) {
  if (text.starts_with('Z')) return 1;
  const bool has_offset =
      text.size() > 6 && (text[0] == '+' || text[0] == '-') && is_digit(text[1]) && text[3] == ':';
  return has_offset ? 6 : 0;
}

// How much of `text` has the shape: 'd' a digit, ' ' a blank or the T of a stamp, else itself.
std::size_t shaped_length(std::string_view text, std::string_view shape) {
  std::size_t length = 0;
  while (length < shape.size() && length < text.size()) {
    const char wanted = shape[length];
    const char c = text[length];
    const bool is_blank = wanted == ' ' && (c == ' ' || c == 'T');
    if (wanted == 'd' ? !is_digit(c) : c != wanted && !is_blank) break;
    ++length;
  }
  return length;
}

}  // namespace

std::size_t stamp_length(std::string_view line) {
  constexpr std::string_view kShape = "dddd-dd-dd dd:dd:dd";
  constexpr std::size_t kWithoutSeconds = std::string_view("dddd-dd-dd dd:dd").size();
  const bool is_set_apart = line.starts_with("[ ");
  const std::size_t begin = is_set_apart ? 2 : line.starts_with('[') ? 1 : 0;
  const std::size_t shaped = shaped_length(line.substr(std::min(begin, line.size())), kShape);
  if (shaped != kShape.size() && shaped != kWithoutSeconds) return 0;
  std::size_t end = begin + shaped;
  if (end < line.size() && (line[end] == '.' || line[end] == ',')) {
    end += 1 + length_of_run(line, end + 1, is_digit);
  }
  end += zone_length(line.substr(end));
  const std::string_view closing = is_set_apart ? " ] " : begin == 0 ? " " : "] ";
  if (line.substr(end, closing.size()) != closing) return 0;
  end += closing.size();
  for (const std::string_view stream : {"stdout F ", "stderr F ", "stdout P ", "stderr P "}) {
    if (line.substr(end).starts_with(stream)) return end + stream.size();
  }
  return end;
}

namespace {

// "I 2026-01-02T03:04:05Z ": a level in one letter before the stamp.
std::size_t level_and_stamp_length(std::string_view line) {
  constexpr std::string_view kLevels = "DIWEF";
  if (line.size() < 2 || line[1] != ' ' || kLevels.find(line[0]) == std::string_view::npos) {
    return 0;
  }
  const std::size_t stamp = stamp_length(line.substr(2));
  return stamp > 0 ? 2 + stamp : 0;
}

// "[1,7]<stderr>:" and "[1,7]<stdout>:"
std::size_t mpirun_length(std::string_view line) {
  if (!line.starts_with('[')) return 0;
  const std::size_t job = length_of_run(line, 1, is_digit);
  if (job == 0 || line.substr(1 + job, 1) != ",") return 0;
  const std::size_t rank = length_of_run(line, 2 + job, is_digit);
  const std::string_view rest = line.substr(2 + job + rank);
  for (const std::string_view stream : {"]<stderr>:", "]<stdout>:"}) {
    if (rank > 0 && rest.starts_with(stream)) return 2 + job + rank + stream.size();
  }
  return 0;
}

// "[3]:", "[3]: " and "[3] "
std::size_t number_length(std::string_view line) {
  constexpr std::size_t kDigitsMax = 6;
  if (!line.starts_with('[')) return 0;
  const std::size_t digits = length_of_run(line, 1, is_digit);
  if (digits == 0 || digits > kDigitsMax || line.substr(1 + digits, 1) != "]") return 0;
  const std::string_view rest = line.substr(2 + digits);
  if (rest.starts_with(": ")) return digits + 4;
  return rest.starts_with(':') || rest.starts_with(' ') ? digits + 3 : 0;
}

bool has_digit(std::string_view text) {
  return std::any_of(text.begin(), text.end(), is_digit);
}

// "[node-1:0] ", "[worker-3] " and "[pod/trainer-0/main] "
std::size_t place_length(std::string_view line) {
  constexpr std::size_t kLengthMax = 200;
  if (!line.starts_with('[')) return 0;
  const std::size_t close = line.substr(0, kLengthMax).find(']');
  if (close == std::string_view::npos || line.substr(close + 1, 1) != " ") return 0;
  const std::string_view inside = line.substr(1, close - 1);
  const bool is_pod = inside.starts_with("pod/");
  if (is_pod) {
    const bool is_clean = std::all_of(inside.begin(), inside.end(),
                                      [](char c) { return is_name_byte(c) || c == '/'; });
    return is_clean ? close + 2 : 0;
  }
  const std::size_t name = length_of_run(inside, 0, is_name_byte);
  if (name == 0 || is_digit(inside.front())) return 0;
  // "[E305] " is a level.
  const bool is_name =
      name == inside.size() && has_digit(inside) && inside.find('-') != std::string_view::npos;
  if (is_name) return close + 2;
  if (inside.substr(name, 1) != ":") return 0;
  const std::size_t digits = length_of_run(inside, name + 1, is_digit);
  return digits > 0 && name + 1 + digits == inside.size() ? close + 2 : 0;
}

// "[rank3]:" of torch and "[default3]:" of torchrun, with the blank behind it.
std::size_t rank_length(std::string_view line) {
  for (const std::string_view opening : {"[rank", "[default"}) {
    if (!line.starts_with(opening)) continue;
    const std::size_t digits = length_of_run(line, opening.size(), is_digit);
    const std::size_t end = opening.size() + digits;
    if (digits == 0 || line.substr(end, 2) != "]:") return 0;
    return line.substr(end + 2, 1) == " " ? end + 3 : end + 2;
  }
  return 0;
}

// "gpu-node-7: " of pdsh, DeepSpeed's runner and kubectl, "DGX-H-021: ": with a number in it, and
// in lower case unless it holds a hyphen, which exceptions' names do not. "enroot-aufs2ovlfs: " is
// a program.
std::size_t host_length(std::string_view line) {
  const std::size_t name = length_of_run(line, 0, is_name_byte);
  if (name < 2 || is_digit(line.front()) || line.substr(name, 2) != ": ") return 0;
  if (line.starts_with("enroot-")) return 0;
  const std::string_view host = line.substr(0, name);
  const bool is_lower = std::all_of(host.begin(), host.end(), [](char c) { return lower(c) == c; });
  const bool is_host = is_lower || host.find('-') != std::string_view::npos;
  return is_host && has_digit(host) ? name + 2 : 0;
}

// "trainer-1  | "
std::size_t compose_length(std::string_view line) {
  const std::size_t name = length_of_run(line, 0, is_name_byte);
  const std::size_t blanks = length_of_run(line, name, [](char c) { return c == ' '; });
  if (name < 2 || blanks == 0 || line.substr(name + blanks, 2) != "| ") return 0;
  return has_digit(line.substr(0, name)) && !is_digit(line.front()) ? name + blanks + 2 : 0;
}

// "Nov 20 12:01:31 hexa03 loomd[3811]: " of syslog and systemd's journal. Not what the kernel says,
// which has no number: that names the node.
std::size_t journal_length(std::string_view line) {
  constexpr std::string_view kMonths = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec ";
  constexpr std::size_t kMonth = 4;
  constexpr std::size_t kStamp = std::string_view("Nov 20 12:01:31 ").size();
  if (line.size() < kStamp || kMonths.find(line.substr(0, kMonth)) % kMonth != 0) return 0;
  const bool is_padded = line[kMonth] == ' ';
  const std::string_view shape = is_padded ? " d dd:dd:dd " : "dd dd:dd:dd ";
  if (shaped_length(line.substr(kMonth), shape) != shape.size()) return 0;
  const std::size_t host = length_of_run(line, kStamp, is_name_byte);
  const std::size_t program = kStamp + host + 1;
  if (host == 0 || line.substr(program - 1, 1) != " ") return 0;
  const std::size_t name = length_of_run(line, program, is_name_byte);
  if (name == 0 || line.substr(program + name, 1) != "[") return 0;
  const std::size_t number = program + name + 1;
  const std::size_t digits = length_of_run(line, number, is_digit);
  return digits > 0 && line.substr(number + digits, 3) == "]: " ? number + digits + 3 : 0;
}

// Which of them a line may begin with is told by its first byte, and by what follows its first
// name: most lines have none, and tracebacks have many lines.
std::size_t prefix_length(std::string_view line) {
  if (line.empty()) return 0;
  if (line.front() == '[') {
    return std::max({stamp_length(line), mpirun_length(line), number_length(line),
                     place_length(line), rank_length(line)});
  }
  if (line.front() == ' ' || line.front() == '(') return label_length(line);
  if (is_digit(line.front())) return std::max(stamp_length(line), label_length(line));
  const std::size_t name = length_of_run(line, 0, is_name_byte);
  if (name == line.size()) return 0;
  if (line[name] == ':') return host_length(line);
  if (line[name] == '/') return label_length(line);
  if (line[name] != ' ') return 0;
  return std::max({compose_length(line), level_and_stamp_length(line), journal_length(line)});
}

constexpr int kPrefixesMax = 8;

}  // namespace

std::string_view without_collector_prefix(std::string_view line, NumberPrefix number) {
  for (int i = 0; i < kPrefixesMax; ++i) {
    const std::size_t length = prefix_length(line);
    if (length == 0 || (number == NumberPrefix::kept && number_length(line) > 0)) break;
    line.remove_prefix(length);
  }
  return line;
}

bool has_label_of_task(std::string_view raw) {
  raw.remove_prefix(stamp_length(raw));
  if (mpirun_length(raw) > 0 || raw.starts_with("[default")) return true;
  const std::size_t blanks = length_of_run(raw, 0, [](char c) { return c == ' '; });
  const std::size_t digits = length_of_run(raw, blanks, is_digit);
  return digits > 0 && raw.substr(blanks + digits, 2) == ": ";
}

std::string_view process_label(std::string_view raw) {
  const auto stamp = [](std::string_view text) {
    return std::max(stamp_length(text), level_and_stamp_length(text));
  };
  raw.remove_prefix(stamp(raw));
  std::string_view rest = raw;
  for (int i = 0; i < kPrefixesMax && stamp(rest) == 0; ++i) {
    rest.remove_prefix(prefix_length(rest));
  }
  return raw.substr(0, raw.size() - rest.size());
}

}  // namespace llmb::parser
