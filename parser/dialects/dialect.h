// What every dialect implements: it names the literals whose lines it wants, and turns each such
// record into steps in the StepLedger. A reader knows nothing of files, chunks or other dialects.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "parser/dialects/state_text.h"
#include "parser/dialects/step_ledger.h"
#include "parser/log_facts.h"

namespace llmb::parser {

// One line, or one part of a line between carriage returns: without ANSI codes, NULs and the
// prefixes that launchers write. `text` lives only during the call.
struct Record {
  std::string_view text;
  std::uint64_t offset = 0;  // where the record begins in the log
};

class DialectReader {
 public:
  virtual ~DialectReader() = default;

  // The dialect as far as it can be told by now (Megatron-Bridge shows itself by its second kind
  // of line).
  virtual Dialect dialect() const = 0;

  // Records that hold none of these are not offered.
  virtual std::span<const std::string_view> literals() const = 0;

  virtual void read(const Record& record, StepLedger& ledger) = 0;

  // The log is at its end: what waited for a later line is decided now.
  virtual void finish(StepLedger& /*ledger*/) {}

  // What the reader holds between records. restore() reads what save() wrote.
  virtual void save(StateWriter& /*state*/) const {}
  virtual void restore(StateReader& /*state*/) {}
};

// `name` stands in saved states, so it never changes. One reader may serve several dialects.
struct DialectReaderKind {
  std::string_view name;
  std::unique_ptr<DialectReader> (*make)() = nullptr;
};

// All of them, in the order in which they are asked. A saved state does not depend on the order.
std::span<const DialectReaderKind> dialect_reader_kinds();

// One of each, in that order.
std::vector<std::unique_ptr<DialectReader>> make_dialect_readers();

}  // namespace llmb::parser
