// WantedLiterals: who wants a line is told as if every literal had been searched for.
#include "parser/dialects/wanted_literals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <string>

#include "parser/dialects/checkpoint.h"
#include "parser/dialects/dialect.h"
#include "parser/dialects/failure.h"
#include "parser/dialects/interruption_signs.h"
#include "parser/dialects/nccl_trace.h"
#include "parser/dialects/rank_reports.h"
#include "parser/dialects/stated_configuration.h"

namespace llmb::parser {
namespace {

using Texts = std::vector<std::string_view>;

Texts texts(std::span<const std::string_view> literals) {
  return {literals.begin(), literals.end()};
}

struct Asker {
  Texts literals;
  LiteralSet set;
};

std::vector<Asker> all_askers() {
  const WantedLiterals& wanted = WantedLiterals::instance();
  Texts failures;
  for (const FailureSign& sign : failure_signs()) failures.push_back(sign.literal);
  std::vector<Asker> askers = {
      {failures, wanted.of_failures().literals()},
      {texts(checkpoint_literals()), wanted.of_checkpoints().literals()},
      {texts(interruption_literals()), wanted.of_interruptions().literals()},
      {{NcclTraceReader::kLiteral}, wanted.of_nccl_trace()},
      {texts(rank_report_literals()), wanted.of_rank_reports()},
      {texts(stated_configuration_literals()), wanted.of_stated_configuration()},
  };
  const auto readers = make_dialect_readers();
  for (std::size_t i = 0; i < readers.size(); ++i) {
    askers.push_back({texts(readers[i]->literals()), wanted.of_dialect(i)});
  }
  return askers;
}

bool holds_any(std::string_view line, const Texts& literals) {
  return std::any_of(literals.begin(), literals.end(), [&](std::string_view literal) {
    return line.find(literal) != std::string_view::npos;
  });
}

// Literals of all askers among blanks, some of them spoilt.
std::string random_line(std::mt19937& random, const Texts& all) {
  std::string line(random() % 80, ' ');
  for (std::uint32_t parts = random() % 4; parts > 0; --parts) {
    std::string part(all[random() % all.size()]);
    if (random() % 3 == 0) part[random() % part.size()] = 'e';  // no longer that literal
    line.insert(random() % (line.size() + 1), part);
  }
  return line;
}

TEST(WantedLiterals, TellsWhoWantsALine) {
  const std::vector<Asker> askers = all_askers();
  Texts all;
  for (const Asker& asker : askers) {
    all.insert(all.end(), asker.literals.begin(), asker.literals.end());
  }
  const WantedLiterals& wanted = WantedLiterals::instance();
  LiteralSet found = wanted.none();
  std::mt19937 random(7);
  for (int round = 0; round < 4000; ++round) {
    const std::string line = random_line(random, all);
    wanted.find_in(line, found);
    for (std::size_t i = 0; i < askers.size(); ++i) {
      ASSERT_EQ(found.intersects(askers[i].set), holds_any(line, askers[i].literals))
          << "asker " << i << ": " << line;
    }
    EXPECT_EQ(wanted.scanner().find(line).has_value(), holds_any(line, all)) << line;
  }
}

TEST(SignIndex, LeavesOutNoSignWhoseLiteralTheLineHolds) {
  const WantedLiterals& wanted = WantedLiterals::instance();
  Texts failures;
  for (const FailureSign& sign : failure_signs()) failures.push_back(sign.literal);
  const std::pair<Texts, const SignIndex&> tables[] = {
      {failures, wanted.of_failures()},
      {texts(checkpoint_literals()), wanted.of_checkpoints()},
      {texts(interruption_literals()), wanted.of_interruptions()},
  };
  LiteralSet found = wanted.none();
  std::vector<std::uint16_t> signs;
  std::mt19937 random(8);
  for (const auto& [literals, index] : tables) {
    for (int round = 0; round < 2000; ++round) {
      const std::string line = random_line(random, literals);
      wanted.find_in(line, found);
      index.find(found, signs);
      EXPECT_TRUE(std::ranges::is_sorted(signs));
      for (std::size_t sign = 0; sign < literals.size(); ++sign) {
        const bool is_there = line.find(literals[sign]) != std::string::npos;
        const bool is_told = std::ranges::find(signs, sign) != signs.end();
        ASSERT_TRUE(is_told || !is_there) << literals[sign] << " in " << line;
      }
    }
  }
}

TEST(SignIndex, RefusesASignThatNoScanFinds) {
  EXPECT_NO_THROW(SignIndex({"Error"}, Texts{"Error", "ValueError"}));
  EXPECT_THROW(SignIndex({"Error"}, Texts{"Error", "Exception"}), std::logic_error);
}

}  // namespace
}  // namespace llmb::parser
