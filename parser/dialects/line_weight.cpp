#include "parser/dialects/line_weight.h"

#include <algorithm>
#include <array>
#include <span>

#include "parser/foundation/text.h"

namespace llmb::parser {
namespace {

bool is_name_byte(char c) {
  return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || c == '_' || c == '-' || c == '.';
}

template <typename Accept>
std::size_t length_of_run(std::string_view text, std::size_t at, Accept accept) {
  std::size_t end = std::min(at, text.size());
  while (end < text.size() && accept(text[end])) ++end;
  return end - std::min(at, text.size());
}

// "2026-01-02T03:04:05.123456789Z ", then perhaps "stderr F ".
std::size_t stamp_length(std::string_view line) {
  constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd";
  if (line.size() <= kShape.size()) return 0;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] == 'd' ? !is_digit(line[i]) : line[i] != kShape[i]) return 0;
  }
  std::size_t end = kShape.size();
  if (line[end] == '.') end += 1 + length_of_run(line, end + 1, is_digit);
  const bool is_utc = line.substr(end, 1) == "Z";
  const bool has_offset = line.size() > end + 6 && (line[end] == '+' || line[end] == '-') &&
                          is_digit(line[end + 1]) && line[end + 3] == ':';
  if (!is_utc && !has_offset) return 0;
  end += is_utc ? 1 : 6;
  if (line.substr(end, 1) != " ") return 0;
  ++end;
  for (const std::string_view stream : {"stdout F ", "stderr F ", "stdout P ", "stderr P "}) {
    if (line.substr(end).starts_with(stream)) return end + stream.size();
  }
  return end;
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

// "[node-1:0] " and "[pod/trainer-0/main] "
std::size_t place_length(std::string_view line) {
  constexpr std::size_t kLengthMax = 200;
  if (!line.starts_with('[')) return 0;
  const std::size_t close = line.substr(0, kLengthMax).find(']');
  if (close == std::string_view::npos || line.substr(close + 1, 1) != " ") return 0;
  std::string_view inside = line.substr(1, close - 1);
  const bool is_pod = inside.starts_with("pod/");
  if (is_pod) {
    const bool is_clean = std::all_of(inside.begin(), inside.end(),
                                      [](char c) { return is_name_byte(c) || c == '/'; });
    return is_clean ? close + 2 : 0;
  }
  const std::size_t name = length_of_run(inside, 0, is_name_byte);
  if (name == 0 || is_digit(inside.front()) || inside.substr(name, 1) != ":") return 0;
  const std::size_t digits = length_of_run(inside, name + 1, is_digit);
  return digits > 0 && name + 1 + digits == inside.size() ? close + 2 : 0;
}

// "[rank3]:" of torch and "[default3]:" of torchrun, each of which may stand twice.
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

// "gpu-node-7: " of pdsh, DeepSpeed's runner and kubectl: lower case, with a number in it.
std::size_t host_length(std::string_view line) {
  const std::size_t name = length_of_run(line, 0, is_name_byte);
  if (name < 2 || is_digit(line.front()) || line.substr(name, 2) != ": ") return 0;
  const std::string_view host = line.substr(0, name);
  const bool is_lower = std::all_of(host.begin(), host.end(), [](char c) { return lower(c) == c; });
  return is_lower && std::any_of(host.begin(), host.end(), is_digit) ? name + 2 : 0;
}

constexpr std::array kPrefixLengths = {stamp_length, mpirun_length, place_length, rank_length,
                                       host_length};
constexpr int kPrefixesMax = 6;
// Levels stand at the beginning of a line, and lines may be a MiB long.
constexpr std::size_t kReach = 600;

// glog's letter of the level, then digits of the date ("[W815 ", "W0815 ") or, of older torch, the
// file ("[W socket.cpp:697] ").
bool has_glog_level(std::string_view line, std::string_view levels) {
  const bool is_bracketed = line.starts_with('[');
  if (is_bracketed) line.remove_prefix(1);
  if (line.empty() || levels.find(line.front()) == std::string_view::npos) return false;
  if (length_of_run(line, 1, is_digit) >= 3) return true;
  if (!is_bracketed || line.substr(1, 1) != " ") return false;
  const std::string_view file = line.substr(2, length_of_run(line, 2, is_name_byte));
  return (file.ends_with(".cpp") || file.ends_with(".cc") || file.ends_with(".h")) &&
         line.substr(2 + file.size(), 1) == ":";
}

// "srun: error: …" has the form of a setting too, where a log is quoted with an indent.
bool is_program(std::string_view name, std::string_view says) {
  return says.starts_with("error: ") || says.starts_with("fatal: ") || name.ends_with("run") ||
         name.starts_with("slurm");
}

// "NAME=value" of an environment that is shown.
bool is_assignment(std::string_view text) {
  const auto is_variable = [](char c) { return (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_'; };
  const std::size_t length = length_of_run(text, 0, is_variable);
  return length > 0 && !is_digit(text.front()) && text.substr(length, 1) == "=";
}

// "Namespace(lr=1, …)" and "config: {'lr': 1, …": what Python shows of a program's arguments.
bool is_configuration(std::string_view text) {
  const std::size_t length = length_of_run(text, 0, is_name_byte);
  return text.starts_with("Namespace(") || (length > 0 && text.substr(length, 4) == ": {'");
}

// What a traceback shows between its head and its last line: frames and their source, which hold
// the words of every failure that the program could tell of. `text` begins with a word.
bool is_of_a_frame(std::string_view text, std::size_t indent) {
  constexpr auto kFrames = std::to_array<std::string_view>(
      {"File \"", "frame #", "raise ", "assert ", "except ", "│", "❱", "^^"});
  const bool is_frame = std::any_of(kFrames.begin(), kFrames.end(), [&](std::string_view opening) {
    return text.starts_with(opening);
  });
  constexpr std::size_t kSourceIndent = 4;
  return is_frame || (indent >= kSourceIndent && text.ends_with('('));
}

// A comment, a line of a shell's trace, a frame, an indented "setting: value".
bool is_echo(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (is_of_a_frame(text, length_of_run(line, 0, [](char c) { return c == ' '; }))) return true;
  if (is_assignment(text) || is_configuration(text)) return true;
  // Of another log, quoted: ">   torch.OutOfMemoryError: …".
  if (line.starts_with(">  ") || line.starts_with(">\t") || line.starts_with("> [")) return true;
  const std::size_t pluses = length_of_run(text, 0, [](char c) { return c == '+'; });
  if (pluses > 0 && text.substr(pluses, 1) == " ") return true;
  if (text.starts_with("# ") || text.starts_with("#!") || text.starts_with("echo ")) return true;
  if (text.starts_with("export ")) return true;
  const bool is_item = text.starts_with("- ");
  if (!is_item && !line.starts_with("  ")) return false;
  const std::string_view key = is_item ? text.substr(2) : text;
  const auto is_key = [](char c) { return is_name_byte(c) && lower(c) == c; };
  const std::size_t length = length_of_run(key, 0, is_key);
  const bool is_setting = length > 0 && !is_digit(key.front()) && key.substr(length, 2) == ": ";
  return is_setting && !is_program(key.substr(0, length), key.substr(length + 2));
}

constexpr auto kEchoes = std::to_array<std::string_view>({"NCCL INFO ", "Ignored error"});

// Levels at which a program goes on, and words that say so.
constexpr auto kWarnings = std::to_array<std::string_view>({"WARNING",
                                                            "Warning: ",
                                                            "[warning]",
                                                            " warn ",
                                                            "[NeMo W ",
                                                            "[DEBUG",
                                                            " DEBUG ",
                                                            "DEBUG:",
                                                            "DEBUG - ",
                                                            "etrying",
                                                            "will retry",
                                                            "be retried",
                                                            "falling back",
                                                            "Falling back",
                                                            "fallback to",
                                                            "going to /",
                                                            "gnoring ",
                                                            "(ignored",
                                                            "ontinuing ",
                                                            "estarting ",
                                                            "previous attempt",
                                                            "kipping ",
                                                            " was handled",
                                                            ": ignored",
                                                            " thrown while requesting "});

constexpr auto kNotes =
    std::to_array<std::string_view>({"[NeMo I ", "[INFO", " INFO ", "INFO:", "INFO - "});

// What TensorFlow, XLA and NCCL say where they look for a device or a library, and go on without.
constexpr auto kLooksFor =
    std::to_array<std::string_view>({"failed call to cuInit", "Failed to open lib"});

// Whose warnings are the last word: NVRx's monitor ends the rank that it warns of, and torchrun its
// workers.
constexpr auto kLastWords =
    std::to_array<std::string_view>({"RankMonitorServer", " death signal, shutting down"});

// That something failed, after others said why, or before they do.
constexpr auto kReasonless = std::to_array<std::string_view>(
    {" failed with error code", "failed to import docker image",
     "failed to create container filesystem", "couldn't start container",
     "printing enroot log file", "printing contents of log file", "imed out after ",
     "failed to listen on any local network address", "failed to connect to any network address",
     "store has failed. See inner exception", "ErrImagePull", "ImagePullBackOff"});
constexpr auto kReasons = std::to_array<std::string_view>(
    {"EADDRINUSE", "ddress already in use", "(errno: ", "ailed to pull image"});

// "run.sh: line 4: torchrun: command not found": the shell goes on with its next command.
bool is_complaint_of_a_shell(std::string_view line) {
  line = trimmed(line);
  constexpr std::string_view kLine = ": line ";
  const std::size_t at = line.find(kLine);
  if (at == std::string_view::npos) return false;
  const std::size_t digits = length_of_run(line, at + kLine.size(), is_digit);
  if (digits == 0 || line.substr(at + kLine.size() + digits, 2) != ": ") return false;
  constexpr auto kComplaints = std::to_array<std::string_view>(
      {": command not found", ": Permission denied", ": No such file or directory"});
  return std::any_of(kComplaints.begin(), kComplaints.end(),
                     [&](std::string_view words) { return line.ends_with(words); });
}

// "openpmix: libx.so: cannot open shared object file": a program looks for what it can do without.
// Where it cannot, an exception says so, or the loader itself.
bool is_complaint_of_a_loader(std::string_view line) {
  const auto holds = [&](std::string_view words) {
    return line.find(words) != std::string_view::npos;
  };
  return holds("cannot open shared object file") && !holds("Error: ") &&
         !holds("error while loading ");
}

bool holds_any(std::string_view line, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return line.find(word) != std::string_view::npos;
  });
}

}  // namespace

std::string_view without_collector_prefix(std::string_view line) {
  for (int i = 0; i < kPrefixesMax; ++i) {
    std::size_t length = 0;
    for (const auto& prefix : kPrefixLengths) length = std::max(length, prefix(line));
    if (length == 0) break;
    line.remove_prefix(length);
  }
  return line;
}

bool leaves_reason_open(std::string_view line) {
  return holds_any(line, kReasonless) && !holds_any(line, kReasons);
}

LineWeight weight_of(std::string_view line) {
  line = without_collector_prefix(line.substr(0, kReach));
  if (is_echo(line) || holds_any(line, kEchoes)) return LineWeight::echo;
  const std::string_view text = trimmed(line);
  if (has_glog_level(text, "EF") || holds_any(line, kLastWords)) return LineWeight::statement;
  if (has_glog_level(text, "W") || holds_any(line, kWarnings) || holds_any(line, kLooksFor)) {
    return LineWeight::warning;
  }
  if (is_complaint_of_a_shell(line) || is_complaint_of_a_loader(line)) return LineWeight::complaint;
  const bool is_note = has_glog_level(text, "I") || holds_any(line, kNotes);
  return is_note ? LineWeight::note : LineWeight::statement;
}

}  // namespace llmb::parser
