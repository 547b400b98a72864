#include "server/report/published_standing_text.h"

#include <fmt/format.h>

namespace llmb::report {

std::string standing_text(const std::optional<parser::PublishedStanding>& standing) {
  if (!standing) return "-";
  switch (standing->verdict) {
    case parser::StandingVerdict::reached:
      return fmt::format("reached: {:.4f} or more", standing->low);
    case parser::StandingVerdict::not_reached:
      return fmt::format("not reached: {:.4f} or less", standing->high);
    case parser::StandingVerdict::not_decided:
      break;
  }
  return fmt::format("not decided: {:.4f} to {:.4f}", standing->low, standing->high);
}

void add_standing(CsvLine& line, const std::optional<parser::PublishedStanding>& standing) {
  if (!standing) return line.add_empty(5);
  line.add(parser::standing_verdict_name(standing->verdict));
  for (const double value : {standing->speed, standing->low, standing->high, standing->line}) {
    line.add(value);
  }
}

}  // namespace llmb::report
