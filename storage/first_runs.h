// FirstRuns: the first runs of a page among those that come in any order.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "storage/run_page_question.h"
#include "storage/run_query.h"

namespace llmb::storage {

struct PageKeys {
  std::vector<RunId> ids;
  std::vector<RunKeyset> keysets;
};

class FirstRuns {
 public:
  // Of those that stand behind query.after in the list's order. The query outlives it.
  FirstRuns(const RunQuery& query, std::size_t wanted);

  // False: it is none of the first ones so far.
  bool offer(RunId id, std::optional<SqlParameter> sort_value);
  PageKeys take();

 private:
  struct Run {
    RunId id = 0;
    std::optional<SqlParameter> sort_value;
  };
  bool comes_before(const Run& run, const Run& other) const;

  const RunQuery& query_;
  const std::size_t wanted_;
  std::optional<Run> after_;
  std::vector<Run> heap_;  // the last of them on top
};

}  // namespace llmb::storage
