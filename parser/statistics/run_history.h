// RunHistory: the runs of one configuration in the order in which they were started, where their
// step time changed its level, and what of the configuration changed there. What a cluster changes
// over time (release, environment, nodes) is no part of what keeps series apart; the cluster is.
#pragma once

#include <string_view>
#include <vector>

#include "parser/statistics/change_points.h"
#include "parser/statistics/history_run.h"
#include "parser/statistics/history_series.h"
#include "parser/statistics/run_selection.h"
#include "parser/statistics/tree_clusters.h"

namespace llmb::parser {

struct RunHistory {
  std::vector<HistorySeries> series;
  std::vector<HistoryLeftOut> unplaced;  // of configurations of which no run counts
};

// What every answer says of the method.
inline constexpr std::string_view kHistoryMethod =
    "One value is the logarithm of a run's median step time over its window; of one cluster logs "
    "with the same bytes are one run. Runs stand in the "
    "order of their starts (of their job ids, where those are not known). Changes of level are "
    "found by penalised segmentation with distances from medians, so that single odd runs are no "
    "change; the penalty goes by the noise about the levels, and is raised where runs depend on "
    "the "
    "ones before: of series whose level never changed one of 100 has a change by chance at most, "
    "and "
    "one of 20 where each run takes over half of the one before. Of fewer than six runs no change "
    "can "
    "be told. The newest level is called higher or lower where the two newest runs both lie beyond "
    "a "
    "limit on the same side of the level before them: it goes by how many runs are known, so that "
    "runs that do not depend on the ones before alarm falsely once in 300, and those that take "
    "over "
    "half of the one before once in 80 to 120. It drifts where a line tells more of its runs "
    "than levels do, and they rise or fall by Mann and Kendall's test, made for runs that take "
    "over "
    "half of the one before: of eight runs or more, by chance in one series of 100. Means are held "
    "against medians in the same way, and told from 1 % on: slow steps move them alone.";

// Runs that are marked are left out unless `included` names their mark. Series by workload, model
// size, dtype, GPU, scale, batch and cluster; those of one run too. Every selected run stands in
// one place: it counts, or is a copy, or is left out. `selection` is by catalog names; `trees`
// learnt from all runs. `find_change_points`: change_points(), or what knows its answers.
RunHistory run_history(const HistoryRuns& runs, const RunSelection& selection,
                       const RunMarkSet& included, const TreeClusters& trees,
                       const ChangeFinder& find_change_points = change_points);

}  // namespace llmb::parser
