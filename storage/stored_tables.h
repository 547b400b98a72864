// Every table of the schema, each after those that its rows refer to: what is removed with a run,
// and what a copy of a database has to have. A test holds the list against both engines' schemas.
#pragma once

#include <array>
#include <string_view>

namespace llmb::storage {

struct StoredTable {
  // with_its_run: whatever changes a row of it changes the row of its run, too, or a row beside the
  // run. beside_its_run: not so, and there may be much of it. by_itself: not so, and there is
  // little.
  enum class Changes { with_its_run, beside_its_run, by_itself };

  std::string_view name;
  std::string_view run_column;  // whose rows are a run's; empty: they are of no run
  Changes changes = Changes::by_itself;
};

inline constexpr std::array kStoredTables = {
    StoredTable{"root", ""},
    StoredTable{"run", "id", StoredTable::Changes::with_its_run},
    StoredTable{"run_settings", "run_id", StoredTable::Changes::with_its_run},
    StoredTable{"run_segment", "run_id", StoredTable::Changes::with_its_run},
    StoredTable{"run_event", "run_id", StoredTable::Changes::with_its_run},
    StoredTable{"run_checkpoint", "run_id", StoredTable::Changes::with_its_run},
    StoredTable{"run_nccl", "run_id", StoredTable::Changes::with_its_run},
    StoredTable{"run_rank_measure", "run_id", StoredTable::Changes::with_its_run},
    StoredTable{"run_profile", "run_id", StoredTable::Changes::with_its_run},
    StoredTable{"log_cursor", "run_id", StoredTable::Changes::with_its_run},
    StoredTable{"log_text", "run_id", StoredTable::Changes::beside_its_run},
    StoredTable{"step_chunk", "run_id", StoredTable::Changes::beside_its_run},
    StoredTable{"step_sample", "run_id", StoredTable::Changes::with_its_run},
    StoredTable{"step_field", "run_id", StoredTable::Changes::with_its_run},
    StoredTable{"pushed_run", "run_id"},
    StoredTable{"covered_log", "run_id"},
    StoredTable{"push_state", "run_id"},
    StoredTable{"parked_file", ""},
    StoredTable{"removed_log", ""},
    StoredTable{"removed_run", ""},
    StoredTable{"removal_total", ""},
    StoredTable{"push_agent", ""},
    StoredTable{"job", ""},
    StoredTable{"job_request", ""},
    StoredTable{"api_token", ""},
    StoredTable{"store", ""},
    StoredTable{"data_revision", ""}};

// What is kept of the rows of others, by triggers and count_new_runs(): it comes and goes with
// those.
inline constexpr std::array<std::string_view, 2> kTalliedTables = {"run_tally", "run_text_change"};

}  // namespace llmb::storage
