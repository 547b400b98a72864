// The ways to write comparisons down on the command line: a table for eyes, csv with one line for
// each group and metric.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "parser/statistics/run_comparison.h"

namespace llmb::report {

// Runs that are compared with each other, and the outcome.
struct ComparedSet {
  std::string title;  // "pretrain_grok1 314b"
  std::vector<parser::ComparedRun> runs;
  parser::RunComparison comparison;
};

void write_comparison_table(const std::vector<ComparedSet>& sets, std::ostream& out);
void write_comparison_csv(const std::vector<ComparedSet>& sets, std::ostream& out);

}  // namespace llmb::report
