// Any literals, any log, any chunking, every engine: LineFilter hands on what the slow oracle does,
// and goes on after a stop as if there had been none.
//
// The input's first bytes choose the limit, the number of literals and the stop; the literals
// follow, each with its length before it; the rest is the log, cut by the sizes in its own bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "parser/lines/line_cleaner.h"
#include "parser/lines/line_filter.h"
#include "tests/parser/lines/slow_oracle.h"

namespace {

using llmb::parser::Line;
using llmb::parser::LineFilter;
using llmb::parser::LiteralScanner;
using llmb::parser::oracle::FilterOutcome;

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size)
      : rest_(reinterpret_cast<const char*>(data), size) {}

  std::size_t number() {
    if (rest_.empty()) return 0;
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  std::string_view bytes(std::size_t length) {
    const std::string_view taken = rest_.substr(0, length);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

std::vector<std::string> take_literals(Input& input) {
  std::vector<std::string> literals;
  for (std::size_t left = 1 + input.number() % 5; left > 0; --left) {
    std::string literal(input.bytes(1 + input.number() % 16));
    std::replace(literal.begin(), literal.end(), '\n', 'n');
    std::replace(literal.begin(), literal.end(), '\r', 'r');
    if (!literal.empty()) literals.push_back(std::move(literal));
  }
  if (literals.empty()) literals.emplace_back("x");
  return literals;
}

void require(bool holds) {
  if (!holds) std::abort();
}

// Feeds log[from, to) in chunks whose sizes are its own bytes. Each chunk is a copy of exactly its
// size, so that AddressSanitizer sees a read past its end.
void feed_in_chunks(LineFilter& filter, std::string_view log, std::size_t from, std::size_t to,
                    FilterOutcome& outcome) {
  while (from < to) {
    const std::size_t wish = 1 + static_cast<std::uint8_t>(log[from]) % 97;
    const std::string_view piece = log.substr(from, std::min(wish, to - from));
    const std::vector<char> chunk(piece.begin(), piece.end());
    filter.feed({chunk.data(), chunk.size()}, [&outcome](const Line& line) {
      outcome.lines.push_back({std::string(line.bytes), line.offset, line.first_hit});
    });
    from += chunk.size();
  }
}

void check_engine(const LiteralScanner& scanner, std::string_view log, std::size_t limit,
                  std::size_t stop) {
  const auto& literals = scanner.literals();
  FilterOutcome outcome;
  const auto note = [&outcome](const LineFilter& filter) {
    outcome.committed_offset = filter.committed_offset();
    outcome.in_dropped_line = filter.in_dropped_line();
    outcome.lines_too_long += filter.lines_too_long();
  };
  LineFilter before(scanner, 0, limit);
  feed_in_chunks(before, log, 0, stop, outcome);
  note(before);
  require(outcome == llmb::parser::oracle::filter(literals, log.substr(0, stop), limit, false));

  LineFilter after(scanner, before.committed_offset(), limit, before.in_dropped_line());
  feed_in_chunks(after, log, before.committed_offset(), log.size(), outcome);
  after.finish([&outcome](const Line& line) {
    outcome.lines.push_back({std::string(line.bytes), line.offset, line.first_hit});
  });
  note(after);
  require(outcome == llmb::parser::oracle::filter(literals, log, limit, true));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const std::size_t limit = 1 + input.number();
  const std::size_t stop_wish = input.number();
  const std::vector<std::string> literals = take_literals(input);
  const std::string_view log = input.rest();
  for (const LiteralScanner::Engine engine : LiteralScanner::available_engines()) {
    check_engine(LiteralScanner(literals, engine), log, limit, std::min(stop_wish, log.size()));
  }
  std::string scratch;
  require(llmb::parser::clean_line(log, scratch).size() <= log.size());
  return 0;
}
