// What `backfill` is asked for, and the manifest that comes of it: that of its work folder, or a
// new cut of the trees.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parser/result.h"
#include "server/backfill/work_folder.h"
#include "server/cli/exit_codes.h"
#include "server/cli/push_arguments.h"
#include "server/cli/stop_signals.h"

namespace llmb::cli {

struct BackfillArguments {
  bool uses_slurm = false;
  bool is_dry_run = false;
  bool waits = false;
  bool shows_status = false;
  bool copies_program = false;
  bool allow_network_file_system = false;
  bool skips_unreadable = false;
  std::optional<std::int64_t> tasks;
  std::int64_t at_once = 0;  // 0: not said
  std::int64_t task = 0;     // 0: not one of them
  std::string work_folder;
  std::string database_folder;
  std::string catalog_file;
  std::vector<std::string> slurm_arguments;
  std::vector<std::string> roots;
  PushArguments push;
};

struct BackfillPlan {
  backfill::Manifest manifest;
  bool is_new = false;  // it stands in no work folder yet
};

// Why no task begins. What fails is no fault of the arguments, unless it is said.
struct BackfillRefusal {
  BackfillRefusal(parser::Error error, int code = kFailed)
      : message(std::move(error.message)), exit_code(code) {}

  std::string message;
  int exit_code;
};

// The work folder as it is asked for, absolute.
parser::Result<backfill::WorkFolder> work_folder_of(const BackfillArguments& arguments);

// Whether the server of a manifest takes what is pushed; the manifest may have no tasks yet.
using AskServer = std::function<tl::expected<void, BackfillRefusal>(const backfill::Manifest&)>;

// Goes by the work folder's manifest where there is one, else measures the trees; words on stderr
// say what. Refuses what is another back-fill than the folder's, and what `ask` refuses: that is
// called, but for a dry run, before anything is measured or written.
tl::expected<BackfillPlan, BackfillRefusal> plan_backfill(const BackfillArguments& arguments,
                                                          const backfill::WorkFolder& work,
                                                          const StopSignals& signals,
                                                          const AskServer& ask);

// A line a task.
void write_cut(const backfill::Manifest& manifest, std::ostream& output);

}  // namespace llmb::cli
