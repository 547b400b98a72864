#include "parser/rank_evidence.h"

#include "parser/foundation/name_table.h"

namespace llmb::parser {
namespace {

constexpr auto kRankSources = name_table<RankSource>({
    {RankSource::straggler_detector, "straggler_detector"},
    {RankSource::timers, "timers"},
    {RankSource::nvrx, "nvrx"},
    {RankSource::sniff_test, "sniff_test"},
});
constexpr auto kRankPlaces = name_table<RankPlace>({
    {RankPlace::lowest, "lowest"},
    {RankPlace::highest, "highest"},
    {RankPlace::median, "median"},
    {RankPlace::each, "each"},
    {RankPlace::flagged, "flagged"},
});

}  // namespace

std::string_view rank_source_name(RankSource source) {
  return kRankSources.name(source);
}

std::optional<RankSource> rank_source_from_name(std::string_view name) {
  return kRankSources.value(name);
}

std::string_view rank_place_name(RankPlace place) {
  return kRankPlaces.name(place);
}

std::optional<RankPlace> rank_place_from_name(std::string_view name) {
  return kRankPlaces.value(name);
}

}  // namespace llmb::parser
