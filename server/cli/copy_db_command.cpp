#include "server/cli/commands.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "parser/foundation/grouped_number.h"
#include "server/cli/complaint.h"
#include "server/cli/exit_codes.h"
#include "server/report/progress_line.h"
#include "server/report/text_table.h"
#include "storage/database_copy.h"
#include "storage/database_place.h"

namespace llmb::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kCopyDbFooter = R"(Examples:
  llmb-report copy-db runs.db postgresql://llmb@db.example/llmb    # from one file to a server
  llmb-report copy-db postgresql://llmb@db.example/llmb runs.db    # and back
  llmb-report copy-db runs.db copy.db                              # a copy of a file in use
  llmb-report copy-db --prepare runs.db copy.db    # most of the work, while a daemon still writes

FROM stays as it is, and a daemon may go on writing to it: what is copied is what it held when this
began. TO is new: a file that is not there yet, or an empty database (createdb). Passwords belong in
~/.pgpass or PGPASSWORD.

However it ends, the same command goes on where it stopped: runs that are there and have not changed
in FROM since stay, and the others are written anew. Until all is there and compared, TO has a mark,
and no other command opens it. At the end every table is read on both sides, and the number of its
rows and the checksum of their values have to be the same.

To move a daemon: call this with --prepare, stop the daemon, call this without, which copies what
has changed, and start the daemon with --db TO. The copy has the identity of FROM, for jobs, tokens
and agents too, so let only one of them go on.

Exit codes: 0 copied, and the same; 1 not, or not the same; 2 wrong arguments.
)";

struct CopyArguments {
  std::string from;
  storage::OpenOptions to;
  bool only_prepares = false;
};

// What stderr says of what was found, and of what is to be done.
void say_beginning(const storage::DatabaseCopy& copy) {
  const auto& runs = copy.runs();
  if (copy.was_begun()) {
    std::cerr << fmt::format(
        "Going on: {} runs are there, {} of before have changed or are gone.\n",
        parser::grouped(runs.standing), parser::grouped(runs.removed));
  }
  std::cerr << fmt::format("To copy: {} runs with {} steps.\n", parser::grouped(runs.missing),
                           parser::grouped(runs.missing_steps));
}

void copy_runs(storage::DatabaseCopy& copy) {
  report::ProgressLine progress(static_cast<std::size_t>(copy.runs().missing), "runs");
  while (const std::int64_t copied = copy.copy_some_runs()) {
    progress.add_done(static_cast<std::size_t>(copied));
  }
}

std::vector<storage::CopiedTable> check_tables(storage::DatabaseCopy& copy) {
  report::ProgressLine progress(copy.table_count(), "tables compared");
  std::vector<storage::CopiedTable> tables;
  while (auto table = copy.check_next_table()) {
    tables.push_back(std::move(*table));
    progress.add_done();
  }
  return tables;
}

// Prints each table, and returns the names of those that differ.
std::string compare(const std::vector<storage::CopiedTable>& tables) {
  report::TextTable shown({"table", ">rows", "checksum", "verdict"});
  std::string different;
  for (const storage::CopiedTable& table : tables) {
    std::string verdict = "same";
    if (!table.is_same()) {
      different.append(different.empty() ? "" : ", ").append(table.name);
      verdict = fmt::format("DIFFERENT: the copy has {} rows, checksum {:016x}", table.to.rows,
                            table.to.checksum);
    }
    shown.add({table.name, parser::grouped(table.from.rows),
               fmt::format("{:016x}", table.from.checksum), std::move(verdict)});
  }
  shown.print(std::cout);
  return different;
}

int run_copy(const CopyArguments& arguments) {
  const auto began = Clock::now();
  storage::DatabaseCopy copy(arguments.from, arguments.to);
  say_beginning(copy);
  copy_runs(copy);
  const std::string to = storage::shown_place(arguments.to.path);
  if (arguments.only_prepares) {
    std::cerr << to << " has the runs. The same command without --prepare makes it whole.\n";
    return 0;
  }
  copy.copy_rest();
  const std::string different = compare(check_tables(copy));
  if (!different.empty()) {
    return complain(
        "copy-db",
        fmt::format("{} does not hold what {} holds, in: {}. It keeps its mark, so that "
                    "nothing opens it. Ask `llmb-report doctor --db` of the first; then "
                    "remove the copy and call this again. If that ends as now, report "
                    "it.",
                    to, storage::shown_place(arguments.from), different),
        kFailed);
  }
  copy.finish();
  const std::chrono::duration<double> took = Clock::now() - began;
  std::cerr << fmt::format("{} holds all of {}, in {:.1f} s.\n", to,
                           storage::shown_place(arguments.from), took.count());
  return 0;
}

}  // namespace

void add_copy_db_command(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<CopyArguments>();
  CLI::App* const command =
      app.add_subcommand("copy-db", "Copy a database, from SQLite to PostgreSQL and back");
  command->add_option("FROM", arguments->from, "The database to copy: a file, or postgresql://…")
      ->type_name("PLACE")
      ->required();
  command->add_option("TO", arguments->to.path, "Where to: a new file, or postgresql://…")
      ->type_name("PLACE")
      ->required();
  command->add_flag("--allow-network-file-system", arguments->to.allow_network_file_system,
                    "Write a file on a network file system, where it may be damaged");
  command->add_flag("--prepare", arguments->only_prepares,
                    "Copy the runs that there are, and leave TO marked for a later call");
  command->footer(kCopyDbFooter);
  command->callback([arguments, &exit_code] {
    try {
      exit_code = run_copy(*arguments);
    } catch (const storage::StorageError& error) {
      exit_code = complain("copy-db", error.what(), kFailed);
    }
  });
}

}  // namespace llmb::cli
