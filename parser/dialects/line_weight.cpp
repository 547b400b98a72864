#include "parser/dialects/line_weight.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "parser/dialects/exception_cause.h"
#include "parser/dialects/leading_share.h"
#include "parser/foundation/text.h"
#include "parser/lines/line_prefix.h"

namespace llmb::parser {
namespace {

// Levels stand at the beginning of a line, and lines may be a MiB long.
constexpr std::size_t kReach = 600;

// glog's letter of the level, then digits of the date ("[W815 ", "W0815 ") or, of older torch, the
// file ("[W socket.cpp:697] ").
bool begins_with_glog_level(std::string_view line, std::string_view levels) {
  const bool is_bracketed = line.starts_with('[');
  if (is_bracketed) line.remove_prefix(1);
  if (line.empty() || levels.find(line.front()) == std::string_view::npos) return false;
  if (length_of_run(line, 1, is_digit) >= 3) return true;
  if (!is_bracketed || line.substr(1, 1) != " ") return false;
  const std::string_view file = line.substr(2, length_of_run(line, 2, is_name_byte));
  return (file.ends_with(".cpp") || file.ends_with(".cc") || file.ends_with(".h")) &&
         line.substr(2 + file.size(), 1) == ":";
}

// In brackets it may stand behind labels that nobody knows: "worker-3 [W socket.cpp:697] ".
bool has_glog_level(std::string_view line, std::string_view levels) {
  if (begins_with_glog_level(line, levels)) return true;
  constexpr std::size_t kLabelsMax = 120;
  const std::string_view head = line.substr(0, kLabelsMax);
  for (std::size_t at = head.find('['); at != std::string_view::npos; at = head.find('[', at + 1)) {
    if (begins_with_glog_level(line.substr(at), levels)) return true;
  }
  return false;
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
  // A message in a box of typer's or tyro's: "│ Unrecognized options: --dtpye   │".
  constexpr std::string_view kSide = "│ ";
  if (text.starts_with(kSide) && text.size() > kSide.size()) {
    const char first = text[kSide.size()];
    if (first >= 'A' && first <= 'Z') return false;
  }
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

// Words of a program that does something else, or the same again.
constexpr auto kGoesOnWith = std::to_array<std::string_view>(
    {"etrying", "will retry", "be retried", "will try again", "alling back", "fallback to",
     "gnoring ", "ontinuing ", "kipping ", " was handled", "espawned", "espawning", " tolerated",
     "(caught", "(optional)"});

constexpr auto kGivesUp =
    std::to_array<std::string_view>({"not retrying", "o more retr", "iving up", "not continuing"});

// Levels at which a program goes on, and other words that say so.
constexpr auto kWarnings = std::to_array<std::string_view>(
    {"WARNING", "Warning: ", "[warning]", "[WARN]", "\"WARN\"", " warn ", "[NeMo W ", "[DEBUG",
     " DEBUG ", "DEBUG:", "DEBUG - ", "going to /", "(ignored", "estarting ", ": ignored",
     " fault ignored", " thrown while requesting ",
     // Of a GPU that goes on (Xid 63): it is repaired when it is reset.
     " marked for remapping"});

// As a chain of jobs begins its next, or a script's next attempt.
constexpr auto kOfEarlierRuns = std::to_array<std::string_view>(
    {"revious attempt", "revious submission", "revious container", "revious job"});

// At whatever level.
constexpr auto kGoesOn = std::to_array<std::string_view>({"trying again", "(retrying after "});

constexpr auto kNotes =
    std::to_array<std::string_view>({"[NeMo I ", "[INFO", " INFO ", "INFO:", "INFO - "});

// What TensorFlow, XLA and NCCL say where they look for a device or a library, and go on without.
constexpr auto kLooksFor =
    std::to_array<std::string_view>({"failed call to cuInit", "Failed to open lib"});

// What Python's collector raises while the program ends, and what JAX and Slurm say then.
constexpr auto kEnds = std::to_array<std::string_view>(
    {"Python is likely shutting down", "Failed to disconnect from coordination service",
     "cgroup.procs failed: No such process"});

// Whose warnings are the last word: NVRx's monitor ends the rank that it warns of, torchrun its
// workers, and of a device that a driver refuses, whoever asks for one says only that there is
// none.
constexpr auto kLastWords = std::to_array<std::string_view>(
    {"RankMonitorServer", "RankMonServer", " death signal, shutting down",
     "Unexpected error from cudaGetDeviceCount()", "The TPU is already in use by process "});

// That something failed, after others said why, or before they do.
constexpr auto kReasonless = std::to_array<std::string_view>(
    {" failed with error code", "pyxis: child ", "failed to import docker image",
     "failed to create container filesystem", "couldn't start container",
     "container exited too soon", "container exited before task start", "printing enroot log file",
     "printing contents of log file", "required plugin spank_pyxis.so", "imed out after ",
     "failed to listen on any local network address", "failed to connect to any network address",
     "store has failed. See inner exception", "ErrImagePull", "ImagePullBackOff",
     "could not load the checkpoint", "CheckpointException ranks:dict_keys(",
     "as cluster registration failed",
     // Of PyTorch's writer: the system said why.
     "PytorchStreamWriter failed", "enforce fail at inline_container"});
constexpr auto kReasons = std::to_array<std::string_view>(
    {"EADDRINUSE", "ddress already in use", "(errno: ", "ailed to pull image", " clients joined"});

// "run.sh: line 4: " and "bash: ".
bool is_of_a_shell(std::string_view line) {
  constexpr std::string_view kLine = ": line ";
  if (line.starts_with("bash: ") || line.starts_with("-bash: ")) return true;
  const std::size_t at = line.find(kLine);
  if (at == std::string_view::npos) return false;
  const std::size_t digits = length_of_run(line, at + kLine.size(), is_digit);
  return digits > 0 && line.substr(at + kLine.size() + digits, 2) == ": ";
}

// "/etc/bashrc: line 77: …": what a shell runs before a job's script ends none.
bool is_of_a_start_file(std::string_view line) {
  constexpr auto kStartFiles = std::to_array<std::string_view>(
      {"/etc/bash", "/etc/profile", "/.bashrc: ", "/.bash_profile: ", "/.profile: "});
  return is_of_a_shell(line) && holds_one_of(line, kStartFiles);
}

// "run.sh: line 4: torchrun: command not found": the shell goes on with its next command.
bool is_complaint_of_a_shell(std::string_view line) {
  line = trimmed(line);
  if (!is_of_a_shell(line)) return false;
  constexpr auto kComplaints = std::to_array<std::string_view>(
      {": command not found", ": Permission denied", ": No such file or directory",
       ": unbound variable", ": bad substitution"});
  return std::any_of(kComplaints.begin(), kComplaints.end(),
                     [&](std::string_view words) { return line.ends_with(words); });
}

// "Warning  FailedMount  pod/w-0  MountVolume.SetUp failed": tried again until the pod is there.
bool is_complaint_of_a_kubelet(std::string_view line) {
  return line.find(" FailedMount ") != std::string_view::npos;
}

// "srun: error: spank: x11.so: Plugin file not found": srun goes on without. Where it does not, it
// says next what it could not do.
bool is_complaint_of_srun(std::string_view line) {
  if (!trimmed(line).starts_with("srun: error: ")) return false;
  return line.find(" spank: ") != std::string_view::npos ||
         line.find("Unable to resolve ") != std::string_view::npos;
}

// "openpmix: libx.so: cannot open shared object file", "libx.so: undefined symbol: f", "Could not
// load library: libstdc++.so.6: version `GLIBCXX_3.4.30' not found": a program looks for what it
// can do without. Where it cannot, an exception says so, or the loader itself.
bool is_complaint_of_a_loader(std::string_view line) {
  const auto holds = [&](std::string_view words) {
    return line.find(words) != std::string_view::npos;
  };
  const bool is_missing = holds("cannot open shared object file") ||
                          holds(": undefined symbol: ") ||
                          (holds("ould not load ") && holds("not found (required by "));
  return is_missing && !holds("Error: ") && !holds("error while loading ") &&
         !holds("symbol lookup error");
}

// "find: 'cache': Stale file handle": of a script's tool, and the script goes on. A full disk is
// there for all that follow.
bool is_complaint_of_a_tool(std::string_view line) {
  constexpr auto kOfOneFile =
      std::to_array<std::string_view>({"Stale file handle", "No such file or directory",
                                       "Permission denied", "Input/output error"});
  if (!holds_one_of(line, kOfOneFile)) return false;
  constexpr auto kTools = std::to_array<std::string_view>(
      {"cat: ", "chmod: ", "chown: ", "cp: ", "df: ", "du: ", "find: ", "ln: ", "ls: ", "mkdir: ",
       "mv: ", "rm: ", "rsync: ", "stat: ", "tar: ", "touch: "});
  return std::any_of(kTools.begin(), kTools.end(),
                     [&](std::string_view tool) { return trimmed(line).starts_with(tool); });
}

// "sbatch: error: … Socket timed out …": of a submission that was tried again, or nothing ran.
bool is_complaint_of_sbatch(std::string_view line) {
  const std::size_t at = line.find("sbatch: error: ");
  return at != std::string_view::npos && line.find(" timed out", at) != std::string_view::npos;
}

// "LustreError: 11-0: … operation ost_write to node … failed: rc = -107": of a node's kernel, which
// connects again. Where a process met it, that says so.
bool is_complaint_of_a_file_system(std::string_view line) {
  return line.find("LustreError: ") != std::string_view::npos;
}

constexpr auto kTries =
    std::to_array<std::string_view>({" try ", "retry", "Retry", "attempt ", "Attempt "});

// "rename failed: Stale file handle; second try ... ok": it was done in the end.
bool says_that_it_worked(std::string_view line) {
  constexpr auto kGoodEnds =
      std::to_array<std::string_view>({" ok", " OK", " succeeded", " success", " done"});
  line = trimmed(line);
  if (line.ends_with(".") || line.ends_with(")")) line.remove_suffix(1);
  return holds_one_of(line, kTries) &&
         std::any_of(kGoodEnds.begin(), kGoodEnds.end(),
                     [&](std::string_view words) { return line.ends_with(words); });
}

// "retry 1/5 opening …: Stale file handle": but for the last of them, another follows.
bool says_that_another_try_follows(std::string_view line) {
  return std::any_of(kTries.begin(), kTries.end(), [&](std::string_view words) {
    const std::size_t at = line.find(words);
    if (at == std::string_view::npos) return false;
    const auto share = leading_share(trimmed(line.substr(at + words.size())));
    return share && share->part < share->whole;
  });
}

// "No module named 'x', using torch's instead".
bool says_what_it_does_instead(std::string_view line) {
  constexpr auto kUses = std::to_array<std::string_view>({", using ", "; using ", ": using "});
  constexpr auto kInstead = std::to_array<std::string_view>({" instead", "fallback"});
  return holds_one_of(line, kUses) && holds_one_of(line, kInstead);
}

// "(attempt 1: n9 lost, DUE TO NODE FAILURE; attempt 2: uncorrectable ECC error on n9)"; not the
// tries of one call: "OSError: cannot load x (attempt 1: ConnectionError; attempt 2: …".
bool sums_up_attempts(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (!text.starts_with("(attempt 1: ") && !text.starts_with("attempt 1: ")) return false;
  return text.find("ttempt 2: ") != std::string_view::npos;
}

// "operator: previous generation (gen 11) ended: RuntimeError: …", "first submission 1480007 ended
// in 4 s: srun: error: …"; not of a first start or run, which may be this one's.
bool says_how_an_earlier_one_ended(std::string_view line) {
  constexpr auto kEarlier =
      std::to_array<std::string_view>({"revious ", "arlier ", "rior ", "irst "});
  static const RE2 ended(
      R"(\b(?:(?:[Pp]revious|[Ee]arlier|[Pp]rior) (?:generation|start|launch|incarnation|run)|)"
      R"((?:[Ee]arlier|[Pp]rior|[Ff]irst) (?:submission|allocation|job))\b[^:]{0,40}?)"
      R"(\b(?:ended|died|failed|exited|crashed|aborted|terminated|was (?:killed|cancelled))\b)");
  return holds_one_of(line, kEarlier) && !holds_one_of(line, kGivesUp) && !is_exception(line) &&
         RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), ended);
}

// "brigadier: yesterday: srun: error: …", "<-- of 3 days ago, before the update": somebody's own
// note. A path may hold the word, and an exception may say how old a file is.
bool is_dated_back(std::string_view line) {
  static const RE2 dated(R"(\byesterday: |\byesterday\)|(?:--|\() ?(?:of |from )?\d+ days ago\b)");
  const bool may_be = line.find("yesterday") != std::string_view::npos ||
                      line.find(" days ago") != std::string_view::npos;
  return may_be && RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), dated);
}

}  // namespace

bool leaves_reason_open(std::string_view line) {
  return holds_one_of(line, kReasonless) && !holds_one_of(line, kReasons);
}

bool is_last_word(std::string_view line) {
  return holds_one_of(line, kLastWords);
}

bool tells_of_an_earlier_run(std::string_view line) {
  return holds_one_of(line, kOfEarlierRuns) || says_how_an_earlier_one_ended(line) ||
         sums_up_attempts(line) || is_dated_back(line);
}

bool tells_that_it_goes_on(std::string_view line) {
  if (holds_one_of(line, kGivesUp)) return false;
  return holds_one_of(line, kGoesOnWith) || holds_one_of(line, kGoesOn) ||
         says_that_another_try_follows(line) || says_what_it_does_instead(line);
}

LineWeight weight_of(std::string_view line) {
  line = without_collector_prefix(line.substr(0, kReach));
  if (is_echo(line) || holds_one_of(line, kEchoes)) return LineWeight::echo;
  const std::string_view text = trimmed(line);
  // "[E socket.cpp:922] … timed out … trying again."
  if (holds_one_of(line, kGoesOn) && !holds_one_of(line, kGivesUp)) return LineWeight::warning;
  if (holds_one_of(line, kEnds)) return LineWeight::warning;
  if (has_glog_level(text, "EF") || is_last_word(line)) return LineWeight::statement;
  if (has_glog_level(text, "W") || holds_one_of(line, kWarnings) || holds_one_of(line, kLooksFor) ||
      tells_of_an_earlier_run(line) || says_that_it_worked(line) || tells_that_it_goes_on(line) ||
      is_of_a_start_file(line)) {
    return LineWeight::warning;
  }
  if (is_complaint_of_a_shell(line) || is_complaint_of_a_loader(line) ||
      is_complaint_of_srun(line) || is_complaint_of_a_kubelet(line) ||
      is_complaint_of_sbatch(line) || is_complaint_of_a_tool(line) ||
      is_complaint_of_a_file_system(line)) {
    return LineWeight::complaint;
  }
  const bool is_note = has_glog_level(text, "I") || holds_one_of(line, kNotes);
  return is_note ? LineWeight::note : LineWeight::statement;
}

}  // namespace llmb::parser
