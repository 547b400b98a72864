// The three output formats of the scripts: table, csv, json, each as its release prints it.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "server/compat/log_verdict.h"
#include "server/compat/options.h"

namespace llmb::compat {

struct Counts {
  int success = 0;
  int failed = 0;  // inside the window, and before it
  int invalid = 0;
  int total() const { return success + failed + invalid; }
};

class ReportWriter {
 public:
  // `options` and `out` outlive the writer.
  ReportWriter(const Options& options, std::ostream& out) : options_(options), out_(out) {}

  void header();
  // `name`: the log's file name. A verdict without a row prints nothing.
  void row(const std::string& name, const LogVerdict& verdict);
  void footer(const Counts& counts);

 private:
  void table_header();
  void table_row(const std::string& name, const LogVerdict& verdict);
  void csv_row(const std::string& name, const LogVerdict& verdict);
  std::string json_row(const std::string& name, const LogVerdict& verdict) const;
  void table_footer(const Counts& counts);
  void json_footer(const Counts& counts);
  bool is_nemo() const { return options_.release.family == Family::nemo; }

  const Options& options_;
  std::ostream& out_;
  std::vector<std::string> json_rows_;  // printed at the end, so that the last has no comma
};

}  // namespace llmb::compat
