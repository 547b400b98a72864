// Lines, whose prefixes differ with the logger (INFO:megatron.core.utils:…):
//   [2026-03-14 23:07:56] | MnRtt/Rnk: 3453.08ms/8 | MxRtt/Rnk: 3468.20ms/0 | MnPwr/Rnk: …
//   ^^^^ Bottom 4 Ranks with lowest  Etpt(TF): 296.02/0, 296.17/2, 296.23/1, 296.23/4,
//   ^^^^ Top    4 Ranks with highest Etpt(TF): 297.28/15, 297.28/11, 297.32/12, 297.32/8,
//   GPU relative performance:
//    Worst performing 5/512 ranks:
//     Rank=76 Node=h100-12 Score=0.94
//   gpu_relative_perf scores: {'gpu_relative_perf/min': 0.94, 'gpu_relative_perf/median': 0.97, …}
//   STRAGGLER DETECTION WARNING: Some GPUs have worse relative performance. Affected ranks:
//                                         {StragglerId(rank=76, node='h100-12')}   on one line
//     GEMM throughput (8192x8192x8192, bf16) [TFLOP/s/GPU]: median=710.20, mean=…, min=…, max=…
//       OUTLIER rank 5 (h100-12): 612.30 (-13.8%)
#include "parser/dialects/rank_reports.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "parser/dialects/fields.h"
#include "parser/foundation/text.h"

namespace llmb::parser {
namespace {

constexpr std::string_view kReport = "MnRtt/Rnk:";
constexpr std::string_view kThroughputList = "Etpt(TF):";
constexpr std::string_view kWorst = "Worst performing ";
constexpr std::string_view kWorstOrBest = "st performing ";
constexpr std::string_view kScore = " Score=";
constexpr std::string_view kScoreSummary = "_perf scores: {";
constexpr std::string_view kFlagged = "STRAGGLER DETECTION WARNING";
constexpr std::string_view kSniffResult = ": median=";
constexpr std::string_view kSniffOutlier = "OUTLIER rank ";

using Name = std::pair<std::string_view, std::string_view>;
// As printed, and as quantities are called here.
constexpr std::array kScoreHeads = {
    Name{"GPU relative performance:", "gpu_relative_performance"},
    Name{"GPU individual performance:", "gpu_individual_performance"}};
constexpr std::array kScoreSummaries = {
    Name{"gpu_relative_perf scores", "gpu_relative_performance"},
    Name{"gpu_individual_perf scores", "gpu_individual_performance"}};
constexpr std::array kReportedQuantities = {
    Name{"Rtt", "round_trip_time"},      Name{"Pwr", "power"}, Name{"Tmp", "temperature"},
    Name{"Utl", "utilization"},          Name{"Clk", "clock"}, Name{"DRtt", "batch_load_time"},
    Name{"Etpt", "estimated_throughput"}};
constexpr std::array kSummaryPlaces = {std::pair{std::string_view("min"), RankPlace::lowest},
                                       std::pair{std::string_view("median"), RankPlace::median},
                                       std::pair{std::string_view("max"), RankPlace::highest}};

constexpr std::array kOwnLiterals = {
    kReport,        kThroughputList, kScoreHeads[0].first, kScoreHeads[1].first,
    kWorstOrBest,   kScore,          kScoreSummary,        kFlagged,
    kSniffResult,   kSniffOutlier,   kHighestTimesHeader,  kEachRanksTimesHeader,
    kRankTimerDots, kRankTimeIndent};
constexpr std::array kLiterals = [] {
  std::array<std::string_view, kOwnLiterals.size() + kTimerNamesAboveRanks.size()> all;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] =
        i < kOwnLiterals.size() ? kOwnLiterals[i] : kTimerNamesAboveRanks[i - kOwnLiterals.size()];
  }
  return all;
}();

// Longer ones are other text.
constexpr std::size_t kSniffNameBytesMax = 100;
// No GPU takes so much: PyTorch's power_draw() gives milliwatts, which Megatron prints as watts.
constexpr double kWattsMax = 10'000;

std::string_view behind(std::string_view text, std::string_view part) {
  const std::size_t at = text.find(part);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + part.size());
}

// A value in its unit here.
struct Measured {
  double value = 0;
  std::string_view unit;
};

std::optional<Measured> in_our_unit(const Number& number, std::string_view printed_unit) {
  const double value = number.value;
  if (printed_unit == "ms") return Measured{from_thousandths(number), "s"};
  if (printed_unit == "us") return Measured{value / 1e6, "s"};
  if (printed_unit == "W") return Measured{value > kWattsMax ? value / 1000 : value, "W"};
  if (printed_unit == "C") return Measured{value, "°C"};
  if (printed_unit == "%") return Measured{value / 100, "1"};
  if (printed_unit == "MHz") return Measured{value * 1e6, "Hz"};
  if (printed_unit == "TF" || printed_unit == "TFLOP/s/GPU") return Measured{value, "TFLOP/s"};
  if (printed_unit == "GB/s") return Measured{value * 1e9, "B/s"};
  return std::nullopt;
}

std::optional<std::int64_t> leading_rank(std::string_view text) {
  const auto rank = take_integer(text);
  return rank && *rank >= 0 ? rank : std::nullopt;
}

// "3453.08ms/8": a value, its unit, and the rank that has it.
struct RankedValue {
  Number number;
  std::string_view unit;
  std::int64_t rank = 0;
};

std::optional<RankedValue> read_ranked_value(std::string_view text) {
  const auto number = leading_number(text);
  if (!number) return std::nullopt;
  const std::size_t slash = number->rest.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto rank = leading_rank(number->rest.substr(slash + 1));
  if (!rank) return std::nullopt;
  return RankedValue{*number, number->rest.substr(0, slash), *rank};
}

// Up to the next blank.
std::string_view word_behind(std::string_view text, std::string_view name) {
  const std::string_view rest = behind(text, name);
  return rest.substr(0, rest.find(' '));
}

}  // namespace

std::span<const std::string_view> rank_report_literals() {
  return kLiterals;
}

void RankReportReader::read(const Record& record, std::size_t line_bytes) {
  has_changed_ = true;
  const std::string_view text = record.text;
  if (holds(text, kReport)) {
    read_straggler_report(record);
  } else if (holds(text, kThroughputList)) {
    read_throughput_list(record);
  } else if (holds(text, kFlagged)) {
    read_flagged_ranks(record);
  } else if (read_score_head(text)) {
    return;
  } else if (holds(text, kScore)) {
    read_score(record);
  } else if (holds(text, kScoreSummary)) {
    read_score_summary(record);
  } else if (holds(text, kSniffResult)) {
    read_sniff_result(record);
  } else if (holds(text, kSniffOutlier)) {
    read_sniff_outlier(record);
  } else {
    timers_.read(record, line_bytes, measures_);
  }
}

void RankReportReader::read_straggler_report(const Record& record) {
  for (const std::string_view part : split(record.text, '|')) {
    std::string_view field = trimmed(part);
    const bool is_lowest = take_literal(field, "Mn");
    if (!is_lowest && !take_literal(field, "Mx")) continue;
    const std::size_t name_end = field.find("/Rnk:");
    if (name_end == std::string_view::npos) continue;
    const auto quantity =
        std::find_if(kReportedQuantities.begin(), kReportedQuantities.end(),
                     [&](const Name& name) { return name.first == field.substr(0, name_end); });
    const auto ranked = read_ranked_value(behind(field, "/Rnk:"));
    if (quantity == kReportedQuantities.end() || !ranked) continue;
    const auto measured = in_our_unit(ranked->number, ranked->unit);
    if (!measured) continue;
    measures_.add({RankSource::straggler_detector, quantity->second, measured->unit},
                  is_lowest ? RankPlace::lowest : RankPlace::highest, {ranked->rank, {}},
                  measured->value, record.offset);
  }
}

// The lowest and the highest of all stand in the report above, too: they count once.
void RankReportReader::read_throughput_list(const Record& record) {
  const std::size_t at = record.text.find(kThroughputList);
  const bool is_lowest = holds(record.text.substr(0, at), "Bottom ");
  std::vector<RankedValue> listed;
  for (const std::string_view part : split(record.text.substr(at + kThroughputList.size()), ',')) {
    if (const auto ranked = read_ranked_value(part)) listed.push_back(*ranked);
  }
  if (listed.empty()) return;
  listed.erase(is_lowest ? listed.begin() : listed.end() - 1);
  for (const RankedValue& ranked : listed) {
    measures_.add({RankSource::straggler_detector, "estimated_throughput", "TFLOP/s"},
                  is_lowest ? RankPlace::lowest : RankPlace::highest, {ranked.rank, {}},
                  ranked.number.value, record.offset);
  }
}

// Whose scores follow, or of which ranks.
bool RankReportReader::read_score_head(std::string_view text) {
  for (const auto& [head, quantity] : kScoreHeads) {
    if (!holds(text, head)) continue;
    score_ = quantity;
    score_place_ = RankPlace::each;
    return true;
  }
  if (!holds(text, kWorstOrBest)) return false;
  score_place_ = holds(text, kWorst) ? RankPlace::lowest : RankPlace::highest;
  return true;
}

void RankReportReader::read_score(const Record& record) {
  const auto rank = leading_rank(behind(record.text, "Rank="));
  const std::string_view node = word_behind(record.text, "Node=");
  const auto score = leading_number(behind(record.text, kScore));
  if (score_.empty() || !rank || node.empty() || !score) return;
  measures_.add({RankSource::nvrx, score_, "1"}, score_place_, {rank, node}, score->value,
                record.offset);
}

void RankReportReader::read_score_summary(const Record& record) {
  for (const auto& [head, quantity] : kScoreSummaries) {
    if (!holds(record.text, head)) continue;
    for (const auto& [name, place] : kSummaryPlaces) {
      std::string key = "/";
      key.append(name).append("': ");
      const auto value = leading_number(behind(record.text, key));
      if (!value) continue;
      measures_.add({RankSource::nvrx, quantity, "1"}, place, {}, value->value, record.offset);
    }
  }
}

// "{StragglerId(rank=76, node='h100-12'), …}", or "[76, 13, 45]" as older ones print.
void RankReportReader::read_flagged_ranks(const Record& record) {
  const bool is_relative = holds(record.text, "relative performance");
  const Name& head = is_relative ? kScoreHeads[0] : kScoreHeads[1];
  const RankMeasures::Quantity quantity = {RankSource::nvrx, head.second, "1"};
  const std::string_view list = behind(record.text, "Affected ranks:");
  const bool has_nodes = holds(list, "rank=");
  for (std::string_view part : split(trimmed(list, " {}[]"), has_nodes ? ')' : ',')) {
    std::string_view node;
    if (has_nodes) {
      node = behind(part, "node='");
      node = node.substr(0, node.find('\''));
      part = behind(part, "rank=");
    }
    const auto rank = leading_rank(part);
    if (rank) measures_.add(quantity, RankPlace::flagged, {rank, node}, {}, record.offset);
  }
}

void RankReportReader::read_sniff_result(const Record& record) {
  const std::string_view text = record.text;
  const std::size_t at = text.find(kSniffResult);
  std::string_view name = text.substr(0, at);
  const std::size_t bracket = name.rfind(" [");
  if (bracket == std::string_view::npos || !name.ends_with(']')) return;
  const std::string_view unit = name.substr(bracket + 2, name.size() - bracket - 3);
  name = name.substr(0, bracket);
  // Two blanks stand between what the logger prints and the name.
  if (const std::size_t begin = name.rfind("  "); begin != std::string_view::npos) {
    name.remove_prefix(begin);
  }
  name = trimmed(name);
  if (name.empty() || name.size() > kSniffNameBytesMax) return;
  for (const auto& [key, place] : kSummaryPlaces) {
    const auto number = leading_number(behind(text.substr(at), std::string(key) + '='));
    const auto measured = number ? in_our_unit(*number, unit) : std::nullopt;
    if (!measured) return;
    measures_.add({RankSource::sniff_test, name, measured->unit}, place, {}, measured->value,
                  record.offset);
  }
  sniff_test_ = name;
  sniff_unit_ = unit;
}

void RankReportReader::read_sniff_outlier(const Record& record) {
  std::string_view rest = behind(record.text, kSniffOutlier);
  const auto rank = take_integer(rest);
  std::string_view node;
  if (take_literal(rest, " (")) {
    node = rest.substr(0, rest.find(')'));
    rest = behind(rest, ")");
  }
  if (!rank || *rank < 0 || !take_literal(rest, ":")) return;
  const auto number = leading_number(rest);
  const auto measured = number ? in_our_unit(*number, sniff_unit_) : std::nullopt;
  if (!measured) return;
  measures_.add({RankSource::sniff_test, sniff_test_, measured->unit}, RankPlace::flagged,
                {rank, node}, measured->value, record.offset);
}

RankEvidence RankReportReader::take_snapshot() {
  has_changed_ = false;
  if (!timers_.has_open_timer()) return measures_.evidence();
  RankMeasures measures = measures_;
  timers_.add_open_timer(measures);
  return measures.evidence();
}

void RankReportReader::save(StateWriter& state) const {
  measures_.save(state);
  timers_.save(state);
  state.text(score_);
  state.text(rank_place_name(score_place_));
  state.text(sniff_test_);
  state.text(sniff_unit_);
}

void RankReportReader::restore(StateReader& state) {
  measures_.restore(state);
  timers_.restore(state);
  score_ = state.text();
  const auto place = rank_place_from_name(state.text());
  if (!place) state.fail();
  score_place_ = place.value_or(RankPlace::each);
  sniff_test_ = state.text();
  sniff_unit_ = state.text();
  has_changed_ = true;
}

}  // namespace llmb::parser
