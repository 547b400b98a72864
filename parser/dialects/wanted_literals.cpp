#include "parser/dialects/wanted_literals.h"

#include <algorithm>
#include <array>
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

using Texts = std::span<const std::string_view>;

std::vector<std::string_view> failure_literals() {
  std::vector<std::string_view> literals;
  for (const FailureSign& sign : failure_signs()) literals.push_back(sign.literal);
  return literals;
}

// One that holds another of the same asker is found with it.
bool is_needed(std::string_view literal, Texts of_asker) {
  return std::none_of(of_asker.begin(), of_asker.end(), [&](std::string_view other) {
    return other.size() < literal.size() && literal.find(other) != std::string_view::npos;
  });
}

void add_needed(Texts of_asker, std::vector<std::string>& literals) {
  for (const std::string_view literal : of_asker) {
    if (is_needed(literal, of_asker)) literals.emplace_back(literal);
  }
}

std::vector<std::string> gather() {
  std::vector<std::string> literals = {std::string(NcclTraceReader::kLiteral)};
  for (const auto& reader : make_dialect_readers()) add_needed(reader->literals(), literals);
  add_needed(failure_literals(), literals);
  add_needed(checkpoint_literals(), literals);
  add_needed(interruption_literals(), literals);
  add_needed(rank_report_literals(), literals);
  add_needed(stated_configuration_literals(), literals);
  std::sort(literals.begin(), literals.end());
  literals.erase(std::unique(literals.begin(), literals.end()), literals.end());
  return literals;
}

}  // namespace

const WantedLiterals& WantedLiterals::instance() {
  static const WantedLiterals wanted;
  return wanted;
}

WantedLiterals::WantedLiterals()
    : scanner_(gather()),
      failures_(scanner_.literals(), failure_literals()),
      checkpoints_(scanner_.literals(), checkpoint_literals()),
      interruptions_(scanner_.literals(), interruption_literals()),
      nccl_trace_(set_of(std::array{NcclTraceReader::kLiteral})),
      rank_reports_(set_of(rank_report_literals())),
      stated_configuration_(set_of(stated_configuration_literals())) {
  for (const auto& reader : make_dialect_readers()) dialects_.push_back(set_of(reader->literals()));
}

LiteralSet WantedLiterals::set_of(Texts literals) const {
  const std::vector<std::string>& all = scanner_.literals();
  LiteralSet set = none();
  for (const std::string_view literal : literals) {
    const auto at = std::lower_bound(all.begin(), all.end(), literal);
    if (at != all.end() && *at == literal) set.add(static_cast<std::size_t>(at - all.begin()));
  }
  return set;
}

void WantedLiterals::find_in(std::string_view text, LiteralSet& found, std::size_t from) const {
  found.clear();
  scanner_.find_all(text, found, from);
}

}  // namespace llmb::parser
