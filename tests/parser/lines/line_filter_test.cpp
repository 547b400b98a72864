// LineFilter: any chunking gives what the slow oracle gives, also across restarts.
#include "parser/lines/line_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "tests/parser/lines/slow_oracle.h"

namespace llmb::parser {
namespace {

using oracle::FilterOutcome;

class Collector {
 public:
  void operator()(const Line& line) {
    outcome_.lines.push_back({std::string(line.bytes), line.offset, line.first_hit});
  }
  FilterOutcome outcome(const LineFilter& filter) const {
    FilterOutcome outcome = outcome_;
    outcome.committed_offset = filter.committed_offset();
    outcome.in_dropped_line = filter.in_dropped_line();
    outcome.lines_too_long = filter.lines_too_long();
    return outcome;
  }

 private:
  FilterOutcome outcome_;
};

FilterOutcome whole(const LiteralScanner& scanner, std::string_view log, std::size_t limit) {
  LineFilter filter(scanner, 0, limit);
  Collector collector;
  filter.feed(log, collector);
  filter.finish(collector);
  return collector.outcome(filter);
}

std::string random_log(std::mt19937& random) {
  constexpr std::string_view kPieces[] = {"\n",  "\r", "\r\n", "step",
                                          "ste", "p",  "time", "....",
                                          " ",   "x",  "\n\n", "a longer piece of some line"};
  std::string log;
  const std::size_t pieces = random() % 60;
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    log += kPieces[random() % std::size(kPieces)];
  }
  return log;
}

TEST(LineFilter, HandsOnLinesThatHoldALiteral) {
  const LiteralScanner scanner({"step", "loss"});
  const auto outcome = whole(scanner, "step 1\nnothing\r\nstep and loss\rstep 3\n\nlast loss",
                             LineFilter::kLineBytesMax);
  const std::vector<oracle::FoundLine> expected = {
      {"step 1", 0}, {"step and loss", 16}, {"step 3", 30}, {"last loss", 38, 5}};
  EXPECT_EQ(outcome.lines, expected);
  EXPECT_EQ(outcome.committed_offset, 38U);
  EXPECT_EQ(outcome.lines_too_long, 0);
}

TEST(LineFilter, AgreesWithTheOracleAfterEveryChunk) {
  std::mt19937 random(7);
  const std::vector<std::string> literals = {"step", "time", "p"};
  const LiteralScanner scanner(literals);
  for (int round = 0; round < 1500; ++round) {
    const std::string log = random_log(random);
    const std::size_t limit = 1 + random() % 40;
    const std::size_t chunk_max = 1 + random() % (round % 2 == 0 ? 3 : 200);
    LineFilter filter(scanner, 0, limit);
    Collector collector;
    SCOPED_TRACE("round " + std::to_string(round));
    for (std::size_t fed = 0; fed < log.size();) {
      const std::string chunk = log.substr(fed, 1 + random() % chunk_max);
      filter.feed(chunk, collector);
      fed += chunk.size();
      ASSERT_EQ(filter.bytes_fed(), fed);
      ASSERT_EQ(collector.outcome(filter),
                oracle::filter(literals, std::string_view(log).substr(0, fed), limit, false));
    }
    filter.finish(collector);
    ASSERT_EQ(collector.outcome(filter), oracle::filter(literals, log, limit, true));
  }
}

TEST(LineFilter, GoesOnAtTheCommittedOffsetAsIfNeverStopped) {
  std::mt19937 random(8);
  const std::vector<std::string> literals = {"step", "time"};
  const LiteralScanner scanner(literals);
  for (int round = 0; round < 1500; ++round) {
    const std::string log = random_log(random);
    const std::size_t limit = 1 + random() % 30;
    const std::size_t stop_at = log.empty() ? 0 : random() % log.size();

    Collector collector;
    LineFilter before(scanner, 0, limit);
    before.feed(std::string_view(log).substr(0, stop_at), collector);
    LineFilter after(scanner, before.committed_offset(), limit, before.in_dropped_line());
    after.feed(std::string_view(log).substr(before.committed_offset()), collector);
    after.finish(collector);

    FilterOutcome outcome = collector.outcome(after);
    outcome.lines_too_long += before.lines_too_long();
    ASSERT_EQ(outcome, oracle::filter(literals, log, limit, true)) << "round " << round;
  }
}

// Whole lines that on_run takes are not handed on, and all others are.
TEST(LineFilter, HandsOnWhatNoRunTook) {
  std::mt19937 random(9);
  const std::vector<std::string> literals = {"step", "time", "p"};
  const LiteralScanner scanner(literals);
  for (int round = 0; round < 1500; ++round) {
    const std::string log = random_log(random);
    const std::size_t limit = 1 + random() % 40;
    const std::size_t chunk_max = 1 + random() % 200;
    LineFilter filter(scanner, 0, limit);
    std::vector<oracle::FoundLine> found;
    const auto on_line = [&](const Line& line) {
      found.push_back({std::string(line.bytes), line.offset, line.first_hit});
    };
    std::size_t lines_in_runs = 0;
    const auto on_run = [&](std::string_view lines) {
      std::size_t done = 0;
      for (std::size_t left = random() % 3; left > 0 && done < lines.size(); --left) {
        const std::size_t end = lines.find_first_of("\r\n", done);
        if (end == std::string_view::npos) {
          ADD_FAILURE() << "a line without its end";
          return done;
        }
        lines_in_runs += oracle::find(literals, lines.substr(done, end - done), 0) ? 1 : 0;
        done = end + 1;
      }
      return done;
    };
    for (std::size_t fed = 0; fed < log.size();) {
      const std::string chunk = log.substr(fed, 1 + random() % chunk_max);
      filter.feed(chunk, on_line, on_run);
      fed += chunk.size();
    }
    filter.finish(on_line);
    const FilterOutcome expected = oracle::filter(literals, log, limit, true);
    ASSERT_EQ(found.size() + lines_in_runs, expected.lines.size()) << "round " << round;
    auto next = expected.lines.begin();
    for (const oracle::FoundLine& line : found) {
      next = std::find(next, expected.lines.end(), line);
      ASSERT_NE(next, expected.lines.end()) << "round " << round;
    }
    ASSERT_EQ(filter.committed_offset(), expected.committed_offset);
    ASSERT_EQ(filter.lines_too_long(), expected.lines_too_long);
  }
}

// Asked for all lines at one line, and for those with a literal again at another.
TEST(LineFilter, HandsOnEveryLineWhereItIsAskedTo) {
  std::mt19937 random(11);
  const LiteralScanner scanner({"step", "time", "p"});
  for (int round = 0; round < 500; ++round) {
    const std::string log = "step\n" + random_log(random);
    const std::size_t every_from = random() % 3;
    const std::size_t every_count = random() % 9;
    const auto read = [&](std::size_t chunk_max) {
      LineFilter filter(scanner, 0, 1 + log.size());
      std::vector<oracle::FoundLine> found;
      const auto on_line = [&](const Line& line) {
        found.push_back({std::string(line.bytes), line.offset, line.first_hit});
        filter.hand_on_every_line(found.size() > every_from &&
                                  found.size() <= every_from + every_count);
      };
      for (std::size_t fed = 0; fed < log.size();) {
        const std::string chunk = log.substr(fed, 1 + random() % chunk_max);
        filter.feed(chunk, on_line);
        fed += chunk.size();
      }
      filter.finish(on_line);
      return found;
    };
    const auto lines = read(1000);
    ASSERT_EQ(read(3), lines) << "round " << round;
    // While it is asked to, each begins where the one before ended.
    for (std::size_t i = every_from + 1; i < std::min(lines.size(), every_from + every_count + 1);
         ++i) {
      EXPECT_EQ(lines[i].offset, lines[i - 1].offset + lines[i - 1].bytes.size() + 1);
    }
  }
}

TEST(LineFilter, DropsAndCountsLinesOverTheLimit) {
  const LiteralScanner scanner({"step"});
  constexpr std::size_t kLimit = LineFilter::kLineBytesMax;
  const std::string fits = "step" + std::string(kLimit - 4, 'x');
  const std::string log = fits + "\n" + fits + "y\nstep 1\n" + std::string(3 * kLimit, 'z') +
                          "\rstep 2\n" + fits + "\r\n" + fits + "yz";
  const FilterOutcome expected = oracle::filter(scanner.literals(), log, kLimit, true);
  ASSERT_EQ(expected.lines.size(), 4U);
  ASSERT_EQ(expected.lines_too_long, 3);
  EXPECT_EQ(whole(scanner, log, kLimit), expected);

  for (const std::size_t chunk : {kLimit, kLimit + 1, std::size_t{65536}, std::size_t{9973}}) {
    LineFilter filter(scanner);
    Collector collector;
    for (std::size_t fed = 0; fed < log.size(); fed += chunk) {
      filter.feed(std::string_view(log).substr(fed, chunk), collector);
    }
    filter.finish(collector);
    EXPECT_EQ(collector.outcome(filter), expected) << "chunks of " << chunk;
  }
}

TEST(LineFilter, CommitsWithinALogWithoutLineEnds) {
  const LiteralScanner scanner({"step"});
  LineFilter filter(scanner, 0, 1000);
  Collector collector;
  const std::string block(300, 's');
  for (int fed = 0; fed < 3; ++fed) filter.feed(block, collector);
  EXPECT_EQ(filter.committed_offset(), 0U);
  EXPECT_FALSE(filter.in_dropped_line());
  for (int fed = 0; fed < 30; ++fed) filter.feed(block, collector);
  EXPECT_EQ(filter.committed_offset(), 33U * 300);
  EXPECT_TRUE(filter.in_dropped_line());
  EXPECT_EQ(filter.lines_too_long(), 1);
}

TEST(LineFilter, ReportsOffsetsOfTheLogItGoesOnWith) {
  const LiteralScanner scanner({"step"});
  LineFilter filter(scanner, 5'000'000'000);
  Collector collector;
  filter.feed("nothing\nstep 1\nst", collector);
  filter.feed("ep 2\n", collector);
  const FilterOutcome outcome = collector.outcome(filter);
  ASSERT_EQ(outcome.lines.size(), 2U);
  EXPECT_EQ(outcome.lines[0].offset, 5'000'000'008U);
  EXPECT_EQ(outcome.lines[1].offset, 5'000'000'015U);
  EXPECT_EQ(outcome.lines[1].bytes, "step 2");
  EXPECT_EQ(outcome.committed_offset, 5'000'000'022U);
}

TEST(LineFilter, RefusesLiteralsThatHoldALineEnd) {
  const LiteralScanner newline({"a\nb"});
  const LiteralScanner carriage_return({"x", "\r"});
  EXPECT_THROW(LineFilter{newline}, std::invalid_argument);
  EXPECT_THROW(LineFilter{carriage_return}, std::invalid_argument);
}

// What is behind a line may be taken by the one who got it.
TEST(LineFilter, LeavesOutTheLinesThatWereTaken) {
  const LiteralScanner scanner({"take", "keep"});
  std::string log;
  for (int i = 0; i < 300; ++i) log += i % 7 == 0 ? "keep it\nnothing\n" : "take it\r\n";
  const auto take = [](std::string_view lines) {
    std::size_t taken = 0;
    while (lines.substr(taken).starts_with("\ntake it\r")) taken += sizeof "\ntake it";
    return taken;
  };
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{33}, log.size()}) {
    LineFilter filter(scanner);
    std::int64_t kept = 0;
    std::int64_t handed_on = 0;
    std::size_t bytes_taken = 0;
    for (std::size_t at = 0; at < log.size(); at += chunk) {
      filter.feed(
          std::string_view(log).substr(at, chunk),
          [&](const Line& line) {
            EXPECT_EQ(log.substr(line.offset, line.bytes.size()), line.bytes);
            (line.bytes == "keep it" ? kept : handed_on) += 1;
          },
          [&](std::string_view lines) {
            EXPECT_TRUE(lines.ends_with('\n') || lines.ends_with('\r'));
            bytes_taken += take(lines);
            return take(lines);
          });
    }
    EXPECT_EQ(kept, 43);
    EXPECT_EQ(handed_on + static_cast<std::int64_t>(bytes_taken / sizeof "\ntake it"), 257);
    EXPECT_EQ(filter.committed_offset(), log.size());
    if (chunk == log.size()) {
      EXPECT_GT(bytes_taken, 0U);
    }
  }
}

}  // namespace
}  // namespace llmb::parser
