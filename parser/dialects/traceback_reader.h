// TracebackReader: the exceptions of Python's tracebacks, with what the frames above them say. A
// traceback's head is a literal that logs are searched for; from there on the reader asks for every
// line, as far as tracebacks reach, so frames cost the scan of a log nothing. It also knows what
// follows: a message that begins on the next line, the exceptions that one was raised from, and a
// worker's own traceback behind that of who waited for it. Ranks print into each other: what stands
// before a line tells whose it is, and each has a traceback of its own, as many as kPrintersMax.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/dialects/dialect.h"
#include "parser/dialects/frame_owner.h"
#include "parser/dialects/program_place.h"
#include "parser/dialects/state_text.h"

namespace llmb::parser {

// The open traceback of one printer: a rank, a worker, or a log without labels.
class OpenTraceback {
 public:
  // Every line of the log, whoever printed it, ends one a little.
  void tick();
  bool is_open() const { return lines_left_ > 0; }
  // Whether its frames were seen, and not yet what was raised.
  bool waits_for_exception() const { return has_frames_; }

  // Its first line, of which nothing else is to be told.
  void begin(std::string_view head, std::uint64_t offset);
  // The traceback that follows is of an exception that Python ignored.
  void ignore();

  // One line of this printer, and the event that the signs find in it. `text`: without what stands
  // before it, of which `has_own_prefix` says that the signs did not know it.
  void read(const Record& record, std::string_view raw, std::string_view text, bool has_own_prefix,
            std::optional<LogEvent> event, StepLedger& ledger);

  void save(StateWriter& state) const;
  void restore(StateReader& state);

 private:
  // Its exception, to the ledger: a helper's complaint is survived where all was trained before.
  void tell(LogEvent event, StepLedger& ledger);
  bool read_head(std::string_view text, std::uint64_t offset);
  bool read_frame(std::string_view text);
  // A line behind an exception whose message is still open. True where it is the message.
  bool read_message(const Record& record, std::string_view text, StepLedger& ledger);
  // A line behind an exception that tells that the program goes on in spite of it.
  void read_survival(const Record& record, std::string_view text, StepLedger& ledger);
  // What an exception's line tells; false where the line is none.
  bool read_exception(const Record& record, std::string_view raw, std::string_view text,
                      bool has_own_prefix, std::optional<LogEvent>& event, StepLedger& ledger);
  void go_on();

  int lines_left_ = 0;
  ProgramPlace place_ = ProgramPlace::unknown;
  FrameOwner owner_ = FrameOwner::program;
  int frame_count_ = 0;      // of the open traceback, as far as it matters
  bool has_frames_ = false;  // since the last exception
  bool next_is_source_ = false;
  bool is_ignored_ = false;              // Python says that it goes on without
  bool is_chained_ = false;              // the next exception was raised from the last one
  bool is_stand_in_ = false;             // the last one stands for a worker's, which follows
  bool is_attempt_ = false;              // the last one told that a file is, or is not, there
  std::optional<std::uint64_t> weaker_;  // the last one's event, where the next may say more
  std::optional<LogEvent> open_;         // the last one's, where its message is still to come
  int survival_lines_left_ = 0;          // behind an exception, which may tell that it was survived
  std::string told_cause_;               // of that one
  std::uint64_t told_offset_ = 0;
  std::uint64_t head_offset_ = 0;  // of its traceback, of several that belong together the first
};

// "Exception ignored in: <function …>", "Error in atexit._run_exitfuncs:", "Exception in thread
// Thread-6 (_pin_memory_loop):", whose workers are gone, whoever ended them: the traceback that
// follows is of no failure.
bool announces_traceback(std::string_view text);

class TracebackReader {
 public:
  // Whether a traceback is open: then every line is to be read, whatever it holds. So it is at a
  // log's beginning, where one may go on whose head was in another file.
  bool wants_every_line() const { return first_lines_left_ > 0 || !printers_.empty(); }

  // One line, and the event that the signs find in it. `raw`: before it was cleaned. What the line
  // tells goes to the ledger, and may change what was told of the same exception before.
  void read(const Record& record, std::string_view raw, std::optional<LogEvent> event,
            StepLedger& ledger);

  void save(StateWriter& state) const;
  void restore(StateReader& state);

 private:
  // Of a log of a thousand ranks some begin anew with the next frame.
  static constexpr std::size_t kPrintersMax = 16;
  // At a log's beginning: a traceback's lower half.
  static constexpr int kFirstLines = 40;

  struct Printer {
    std::uint64_t labels = 0;  // a hash of the launchers' labels
    std::string prefix;        // what else stood before the traceback's head, of a logger
    OpenTraceback traceback;
  };

  // A whole traceback in one line. False where there is none.
  static bool read_escaped(const Record& record, std::string_view raw, StepLedger& ledger);
  // Who printed the line, with `text` moved behind its prefix; null for nobody known.
  Printer* find_printer(std::uint64_t labels, std::string_view& text);
  Printer& add_printer(std::uint64_t labels, std::string_view prefix);
  // Where the head stands behind a word that may be a host's name, that host.
  void add_possible_printer(std::uint64_t labels, std::string_view text, std::uint64_t offset);

  int first_lines_left_ = kFirstLines;
  std::vector<Printer> printers_;  // the one that printed last is the last
};

}  // namespace llmb::parser
