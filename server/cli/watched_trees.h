// Which trees to watch and where the database is, when the command line leaves it open.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/ingest/ingest.h"

namespace llmb::cli {

// The roots as given; without any, $LLMB_WORKLOAD, else the older $STAGE_PATH, else every folder in
// $LLMB_INSTALL/workloads. Where `experiments` or `results` in a root is a symbolic link to a
// folder elsewhere, that folder is a root too: links inside a tree are not followed. A root that
// lies in another, or is there twice, is left out, since its logs would be read twice; `notes`
// gets a sentence on each, and on an $LLMB_INSTALL without such folders. `of_jobs`, where jobs'
// runs go, is one more root, unless it lies in one of the others. Empty when nothing names a root.
std::vector<ingest::RootOptions> choose_roots(
    std::vector<ingest::RootOptions> given, std::vector<std::string>& notes,
    const std::optional<ingest::RootOptions>& of_jobs = {});

// Takes those out that are no folder, and returns their paths: whoever looks once, and ends, finds
// nothing in them later. One that does not answer stays.
std::vector<std::string> take_out_missing_roots(std::vector<ingest::RootOptions>& roots);

// A sentence on each that is no folder. None of these waits long for a root that does not answer.
void note_missing_roots(const std::vector<ingest::RootOptions>& roots,
                        std::vector<std::string>& notes);

std::vector<ingest::RootOptions> roots_at(const std::vector<std::string>& paths);

// $XDG_STATE_HOME/llmb-report/llmb-report.db, else under ~/.local/state. For those who only read,
// and for those who may begin a database: its folder is made. Throw std::runtime_error where there
// is no such place, or it cannot be made.
std::string default_database_path();
std::string made_default_database_path();

}  // namespace llmb::cli
