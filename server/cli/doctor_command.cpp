#include "server/cli/commands.h"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "server/cli/exit_codes.h"
#include "server/cli/watched_trees.h"
#include "server/ingest/abandoned_call.h"
#include "server/ingest/watched_root.h"
#include "server/report/text_table.h"
#include "storage/beginning_anew.h"
#include "storage/database_check.h"
#include "storage/database_place.h"
#include "storage/local_disk.h"

namespace llmb::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kDoctorPatience{5};
constexpr std::chrono::seconds kWalkAtMost{3};
constexpr std::uint64_t kMebibyte = 1ULL << 20;
constexpr std::uint64_t kFreeAtLeast = 64 * kMebibyte;
constexpr std::uint64_t kFreeComfortably = 1024 * kMebibyte;
constexpr std::uint64_t kWalComfortably = 256 * kMebibyte;

constexpr const char* kDoctorFooter = R"(Examples:
  llmb-report doctor                            # the default database, and the trees it follows
  llmb-report doctor --db runs.db               # another one
  llmb-report doctor --db runs.db /data/new     # and whether a further tree can be read
  llmb-report doctor --quick --format=json      # for a monitor: checksums, and no cross-checks

What it looks at: whether the file can be opened and is ours, stands on a local disk, and has a
schema that this program knows; whether its pages, rows and indices agree (PRAGMA integrity_check),
every reference leads somewhere, and every run has the steps it says; how much room its disk has;
which logs could not be read when ingest last tried (a warning each); how many runs an earlier
version told whose rules have changed since (a warning); and whether each tree answers
and can be listed (one that is not there, of which nothing is stored and that the command does not
name, is a warning; one that is empty, or whose experiments/ or results/ is, though logs were read
there, is a problem), and in it
every folder but links, as far as three seconds go (not with --quick). What damage keeps from being
read is not checked (not_checked in JSON), which is no word of it being well. It changes nothing,
and a daemon may go on writing meanwhile. A thorough look reads the whole file, some seconds a
gigabyte.

Exit codes: 0 nothing is wrong (there may be warnings), 1 something is, 2 wrong arguments.
)";

enum class Verdict { well, warning, problem, not_checked };
constexpr const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::well:
      return "ok";
    case Verdict::warning:
      return "warning";
    case Verdict::problem:
      return "problem";
    case Verdict::not_checked:
      return "not_checked";
  }
  return "";
}

struct Finding {
  std::string check;  // snake_case
  Verdict verdict = Verdict::well;
  std::string detail;
};
using Findings = std::vector<Finding>;

struct DoctorArguments {
  std::string database;
  std::string format = "table";
  bool is_quick = false;
  std::vector<std::string> roots;
};

constexpr const char* kUnreadable = "it cannot be told: integrity says what cannot be read";
constexpr const char* kEmpty = "there is no table in it";

std::string mebibytes(std::uint64_t bytes) {
  return report::fixed(static_cast<double>(bytes) / static_cast<double>(kMebibyte), 1) + " MiB";
}

// One finding for each sentence; where there is none, `well`; where it was not to be told, `why`.
void add_sentences(Findings& findings, const std::string& check,
                   const std::optional<std::vector<std::string>>& sentences,
                   const std::string& advice, const std::string& well, const std::string& why) {
  if (!sentences) {
    findings.push_back({check, Verdict::not_checked, why});
    return;
  }
  for (const std::string& sentence : *sentences) {
    findings.push_back({check, Verdict::problem, sentence + advice});
  }
  if (sentences->empty()) findings.push_back({check, Verdict::well, well});
}

Finding contents_of(const std::string& place, const storage::DatabaseCheck& check) {
  if (check.is_empty()) {
    return {"database", Verdict::problem,
            place +
                ": is empty: `llmb-report serve` or `ingest` makes a new database of it; if it "
                "held runs, put back a backup"};
  }
  if (!check.runs || !check.steps) {
    return {"database", Verdict::not_checked, place + ": runs and steps: " + kUnreadable};
  }
  return {"database", Verdict::well,
          fmt::format("{}: {} runs, {} steps{}", place, *check.runs, *check.steps,
                      check.damage.empty() ? "" : ", as far as it can be read")};
}

Finding room_on_disk(const storage::DatabaseCheck& check) {
  const std::uint64_t all_bytes = check.database_bytes + check.wal_bytes;
  std::string detail = mebibytes(check.disk_free_bytes) + " free; the database has " +
                       mebibytes(check.database_bytes) + ", its write-ahead log " +
                       mebibytes(check.wal_bytes);
  if (check.disk_free_bytes < kFreeAtLeast) {
    return {"disk_space", Verdict::problem, detail + ": make room, or ingest halts"};
  }
  if (check.disk_free_bytes < std::max(kFreeComfortably, all_bytes)) {
    return {"disk_space", Verdict::warning,
            detail + ": a copy of it, which a migration keeps, may not fit"};
  }
  return {"disk_space", Verdict::well, std::move(detail)};
}

Finding schema_of(const storage::DatabaseCheck& check) {
  const std::string versions =
      fmt::format("version {} of {}", check.schema_version, check.schema_version_newest);
  if (check.is_empty()) return {"schema", Verdict::not_checked, kEmpty};
  if (check.schema_version == check.schema_version_newest) {
    return {"schema", Verdict::well, versions};
  }
  return {"schema", Verdict::warning,
          versions + ": `llmb-report serve` or `ingest` brings it up to date, and keeps a copy"};
}

Finding place_of(const std::string& database) {
  try {
    storage::require_local_disk(database);
    return {"local_disk", Verdict::well, "its file system is of this machine"};
  } catch (const storage::StorageError& error) {
    return {"local_disk", Verdict::warning, error.what()};
  }
}

void add_parked(const storage::DatabaseCheck& check, Findings& findings) {
  if (!check.parked) {
    findings.push_back({"parked_log", Verdict::not_checked,
                        check.is_empty() ? kEmpty : std::string("logs: ") + kUnreadable});
    return;
  }
  for (const std::string& log : *check.parked) {
    findings.push_back({"parked_log", Verdict::warning, log});
  }
  if (check.parked->empty()) {
    findings.push_back({"parked_log", Verdict::well, "no log that was found could not be read"});
  }
}

// After an upgrade, what lists show and what `parse` says of the same log may differ.
void add_earlier_readings(const std::string& database, const storage::DatabaseCheck& check,
                          Findings& findings) {
  if (!check.earlier_readings) {
    const char* const why = check.is_empty()       ? kEmpty
                            : check.damage.empty() ? "its schema does not tell yet"
                                                   : kUnreadable;
    findings.push_back({"reading", Verdict::not_checked, why});
    return;
  }
  const storage::EarlierReadings& earlier = *check.earlier_readings;
  if (earlier.watched > 0) {
    findings.push_back({"reading", Verdict::warning,
                        fmt::format("an earlier version's rules told {} of the runs whose logs are "
                                    "there: `llmb-report ingest --once --anew --db {}`, with the "
                                    "trees and options that they were read with, or `serve --anew` "
                                    "reads anew those that have settled, and says why others stay",
                                    earlier.watched, storage::shown_place(database))});
  }
  if (earlier.pushed > 0) {
    findings.push_back(
        {"reading", Verdict::warning,
         fmt::format("an earlier version's rules told {} of the pushed runs: "
                     "`llmb-report ingest --once --anew --push URL` where they are pushed from "
                     "reads those of their logs anew that have settled",
                     earlier.pushed)});
  }
  if (earlier.watched == 0 && earlier.pushed == 0) {
    findings.push_back(
        {"reading", Verdict::well, "this version's rules told every run whose log is there"});
  }
}

struct LookedAtRoot {
  Finding finding;
  bool is_absent = false;  // there is no folder of that name
};

// Runs in a thread that may be left behind: owns what it is given.
LookedAtRoot look_at_root(const storage::CheckedRoot& root) {
  const std::string& path = root.path;
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    const bool is_absent = errno == ENOENT || errno == ENOTDIR;
    return {{"root", Verdict::problem, path + ": " + std::strerror(errno)}, is_absent};
  }
  if (!S_ISDIR(status.st_mode)) {
    return {{"root", Verdict::problem, path + ": is not a folder"}, true};
  }
  if (access(path.c_str(), R_OK | X_OK) != 0) {
    return {{"root", Verdict::problem, path + ": cannot be listed: " + std::strerror(errno)}};
  }
  const auto opened = ingest::RootDirectory::open(path);
  for (const std::string& folder : root.folders_with_logs) {
    if (!opened || !ingest::is_empty_place(*opened, folder)) continue;
    return {{"root", Verdict::problem,
             fmt::format("{}{}{}: {}", path, folder.empty() ? "" : "/", folder,
                         ingest::empty_place_words(folder, 0))}};
  }
  return {{"root", Verdict::well, path + ": answers, and can be listed"}};
}

// Whose logs are not seen. Breaks off at `until`: a tree may have a million folders.
struct FolderWalk {
  std::int64_t listed = 0;
  std::int64_t closed = 0;
  std::string first_closed;  // with why
  bool is_cut = false;
};
FolderWalk walk_folders(const std::string& path, std::chrono::steady_clock::time_point until) {
  FolderWalk walk;
  std::vector<fs::path> open = {path};
  while (!open.empty() && !walk.is_cut) {
    const fs::path folder = std::move(open.back());
    open.pop_back();
    std::error_code error;
    fs::directory_iterator entries(folder, error);
    for (; !error && !walk.is_cut && entries != fs::directory_iterator();
         entries.increment(error)) {
      walk.is_cut = std::chrono::steady_clock::now() > until;
      std::error_code vanished;
      if (entries->is_symlink(vanished) || !entries->is_directory(vanished)) continue;
      open.push_back(entries->path());
    }
    ++walk.listed;
    const bool is_gone = error == std::errc::no_such_file_or_directory;
    if (error && !is_gone && ++walk.closed == 1) {
      walk.first_closed = folder.string() + ": " + error.message();
    }
  }
  return walk;
}

// What is to be added of a root that answers.
void look_into(const std::string& root, Finding& finding) {
  const auto walk = ingest::answer_within(kDoctorPatience, [path = root] {
    return walk_folders(path, std::chrono::steady_clock::now() + kWalkAtMost);
  });
  if (!walk) {
    finding.detail += "; a folder in it takes long to list, and the others were not looked into";
    return;
  }
  if (walk->closed > 0) {
    finding = {"root", Verdict::warning,
               fmt::format("{}: answers; {} of its folders cannot be listed, and the logs in them "
                           "are not seen; the first is {}",
                           root, walk->closed, walk->first_closed)};
  }
  if (walk->is_cut) finding.detail += fmt::format("; looked into {} folders only", walk->listed);
}

// By its path: whether anything is stored of it. Of one that is not there, and never was as far as
// is known, nothing is missing: it was mistyped, or is yet to be mounted.
void look_at_roots(const std::map<std::string, storage::CheckedRoot>& roots, bool is_quick,
                   Findings& findings) {
  for (const auto& entry : roots) {
    const std::string& root = entry.first;
    auto looked = ingest::answer_within(kDoctorPatience,
                                        [stored = entry.second] { return look_at_root(stored); });
    if (!looked) {
      findings.push_back({"root", Verdict::problem,
                          fmt::format("{}: does not answer within {} s: its mount hangs. The other "
                                      "roots are followed all the same.",
                                      root, kDoctorPatience.count())});
      continue;
    }
    if (looked->is_absent && !entry.second.was_read) {
      looked->finding.verdict = Verdict::warning;
      looked->finding.detail +=
          "; nothing is stored of it: mount it, or leave it out where a daemon is told of it, and "
          "have it forgotten by `llmb-report prune --root`";
    }
    if (!is_quick && looked->finding.verdict == Verdict::well) look_into(root, looked->finding);
    findings.push_back(std::move(looked->finding));
  }
}

void examine_file(const DoctorArguments& arguments, const storage::DatabaseCheck& check,
                  Findings& findings) {
  findings.push_back(place_of(arguments.database));
  findings.push_back(schema_of(check));
  findings.push_back(room_on_disk(check));
  if (check.wal_bytes > kWalComfortably) {
    findings.push_back({"write_ahead_log", Verdict::warning,
                        mebibytes(check.wal_bytes) +
                            ": a reader keeps it from being emptied; stop what reads for long"});
  }
  if (check.is_empty()) {
    findings.push_back({"integrity", Verdict::not_checked, kEmpty});
  } else {
    add_sentences(
        findings, "integrity", check.damage,
        std::string("; put back a backup, or move the file away: ") + storage::kBeginningAnew,
        arguments.is_quick ? "what a quick look shows is sound" : "every page is sound", "");
  }
  add_sentences(findings, "references", check.dangling, "; report this",
                "every row refers to one that is there", check.is_empty() ? kEmpty : kUnreadable);
}

// What a thorough look compares.
void examine_counts(const storage::DatabaseCheck& check, Findings& findings) {
  add_sentences(findings, "step_counts", check.miscounted, "; report this",
                "every run has the steps it says", check.is_empty() ? kEmpty : kUnreadable);
  const char* const why = check.is_empty()       ? kEmpty
                          : check.damage.empty() ? "its schema has no such counts yet"
                                                 : kUnreadable;
  add_sentences(findings, "run_counts", check.wrong_tallies, "; report this",
                "lists count the runs that there are", why);
}

Findings examine(const DoctorArguments& arguments) {
  Findings findings;
  std::map<std::string, storage::CheckedRoot> roots;
  try {
    const auto depth =
        arguments.is_quick ? storage::CheckDepth::quick : storage::CheckDepth::thorough;
    const storage::DatabaseCheck check = storage::check_database(arguments.database, depth);
    findings.push_back(contents_of(storage::shown_place(arguments.database), check));
    if (check.is_file) {
      examine_file(arguments, check, findings);
    } else {
      findings.push_back({"integrity", Verdict::well,
                          "its server's to keep: pg_amcheck and its log tell of damage"});
    }
    if (!arguments.is_quick) examine_counts(check, findings);
    add_parked(check, findings);
    add_earlier_readings(arguments.database, check, findings);
    if (check.roots) {
      for (const storage::CheckedRoot& root : *check.roots) roots[root.path] = root;
    } else {
      findings.push_back({"root", Verdict::not_checked,
                          check.is_empty() ? kEmpty : std::string("its trees: ") + kUnreadable});
    }
  } catch (const storage::StorageError& error) {
    findings.push_back({"database", Verdict::problem, error.what()});
  }
  // What somebody asks for is to be there.
  for (const std::string& root : arguments.roots) {
    roots[root].path = root;
    roots[root].was_read = true;
  }
  look_at_roots(roots, arguments.is_quick, findings);
  return findings;
}

void write_table(const Findings& findings) {
  report::TextTable table({"check", "verdict", "detail"});
  for (const Finding& finding : findings) {
    const bool is_checked = finding.verdict != Verdict::not_checked;
    table.add(
        {finding.check, is_checked ? name_of(finding.verdict) : "not checked", finding.detail});
  }
  table.print(std::cout);
}

void write_json(const Findings& findings, bool is_well) {
  nlohmann::ordered_json json = {{"is_well", is_well}, {"findings", nlohmann::json::array()}};
  for (const Finding& finding : findings) {
    json["findings"].push_back({{"check", finding.check},
                                {"verdict", name_of(finding.verdict)},
                                {"detail", finding.detail}});
  }
  std::cout << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

int run_doctor(DoctorArguments arguments) {
  if (arguments.database.empty()) arguments.database = default_database_path();
  const Findings findings = examine(arguments);
  const bool is_well = std::none_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.verdict == Verdict::problem;
  });
  if (arguments.format == "json") {
    write_json(findings, is_well);
  } else {
    write_table(findings);
  }
  return is_well ? 0 : kFailed;
}

}  // namespace

void add_doctor_command(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<DoctorArguments>();
  CLI::App* const command =
      app.add_subcommand("doctor", "Say what is wrong with a database and the trees it follows");
  command
      ->add_option(
          "--db", arguments->database,
          "The database: a file, or postgresql://… (default: llmb-report/llmb-report.db in "
          "$XDG_STATE_HOME, else in ~/.local/state)")
      ->type_name("FILE|URL");
  command->add_flag("--quick", arguments->is_quick,
                    "Leave out what takes long: indices against rows, and the steps of each run");
  command->add_option("--format", arguments->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->add_option("ROOT", arguments->roots, "Further trees to look at")->type_name("DIR");
  command->footer(kDoctorFooter);
  command->callback([arguments, &exit_code] { exit_code = run_doctor(*arguments); });
}

}  // namespace llmb::cli
