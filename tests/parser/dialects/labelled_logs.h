// Failures labelled with their surroundings, of tests/logs/labelled: what a log's launcher prints
// before and after, the steps between, and what other ranks say of it. The words are those of the
// programs, from public threads; each was labelled before this project's reader had seen it.
#pragma once

#include <string>
#include <vector>

namespace llmb::parser {

struct LabelledLog {
  std::string cause;       // exact
  std::string acceptable;  // others that a reader would let pass, separated by blanks
  std::string line;        // words of the line that a reader would quote; empty: of several
  std::string text;        // the whole log
};

// `set`: the name of a file there, without its extension. Of it, each failure begins with a line
// "=== cause | acceptable | launcher | steps or start | words of the line"; its lines get the
// launcher's prefix, unless a + behind its name says that they bring their own, of several ranks.
// Throws std::runtime_error for what has another form.
std::vector<LabelledLog> labelled_logs(const std::string& set);

}  // namespace llmb::parser
