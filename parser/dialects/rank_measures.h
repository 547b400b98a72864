// RankMeasures: adds up what lines say of ranks, in bounded memory. Where a quantity has named more
// ranks than have rows, the one that was named least often gives way, so that a rank that is slow
// again and again keeps its row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/dialects/state_text.h"
#include "parser/rank_evidence.h"

namespace llmb::parser {

class RankMeasures {
 public:
  struct Quantity {
    RankSource source = RankSource::straggler_detector;
    std::string_view name;  // longer ones are cut off after 100 bytes
    std::string_view unit;
  };
  // Who has the value, as its line says; both may be missing.
  struct Holder {
    std::optional<std::int64_t> rank;
    std::string_view node;  // longer ones are cut off after 64 bytes
  };

  // `value` in the quantity's unit; one that is not finite is no value, and adds nothing. Nothing:
  // the rank is only named. `offset`: where the line begins.
  void add(const Quantity& quantity, RankPlace place, const Holder& holder,
           std::optional<double> value, std::uint64_t offset);

  RankEvidence evidence() const;

  void save(StateWriter& state) const;
  void restore(StateReader& state);

 private:
  // All of one quantity and place. `others` has a count where ranks gave way.
  struct Group {
    RankMeasure head;  // source, quantity, unit, place
    std::vector<RankMeasure> rows;
    RankMeasure others;
  };

  Group* find_or_insert(const Quantity& quantity, RankPlace place);
  RankMeasure& row_of(Group& group, const Holder& holder);

  std::vector<Group> groups_;
  std::size_t row_count_ = 0;  // of all groups, without those of other ranks
  std::int64_t values_left_out_ = 0;
};

}  // namespace llmb::parser
