// The side file beside the log: one JSON object a line and step, with what the log's line has no
// room for: rank 0's phases, what it communicated, and what its device did (clocks, power, energy),
// with the joules of a token. On CUDA it has the phases' and the calls' seconds left out: the host
// has put a call on a stream long before it runs, and a profile times operations there. Keys are SI
// units, as everywhere.
#pragma once

#include <map>
#include <string>

#include "runner/step_log.h"
#include "runner/trainer/rank_trainer.h"

namespace llmb::runner {

// By the name of the group ("tp", "dp_cp").
using CommunicationByGroup = std::map<std::string, CommunicationTotals>;

CommunicationByGroup communication_of(const RankGroups& groups);
// What came between the two.
CommunicationByGroup difference(const CommunicationByGroup& later,
                                const CommunicationByGroup& earlier);

// With its newline.
std::string phase_line(const RunSettings& settings, const StepRecord& step,
                       const PhaseTimes& phases, const CommunicationByGroup& communication);

}  // namespace llmb::runner
