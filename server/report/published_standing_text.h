// How runs stand against their published result, as a cell of a table and as those of a csv file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "parser/statistics/published_standing.h"
#include "server/report/csv_line.h"

namespace llmb::report {

// What tables say of the verdicts on published speeds.
inline constexpr std::string_view kStandingNote =
    "Whether the published speed is reached is told of the geometric mean of runs, which the\n"
    "dashboard's board shows.\n";

// "not decided: 0.9931 to 1.0123"; "-" where there is none.
std::string standing_text(const std::optional<parser::PublishedStanding>& standing);

// The names of the cells that add_standing() adds.
inline constexpr std::string_view kStandingColumns =
    "published_standing_verdict,published_standing_speed,published_standing_speed_low,"
    "published_standing_speed_high,published_standing_line";
void add_standing(CsvLine& line, const std::optional<parser::PublishedStanding>& standing);

}  // namespace llmb::report
