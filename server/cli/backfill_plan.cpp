#include "server/cli/backfill_plan.h"
#include "parser/foundation/grouped_number.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <utility>

#include "server/backfill/measure.h"
#include "server/backfill/progress.h"
#include "server/cli/watched_trees.h"
#include "server/dispatch/submission_mark.h"
#include "server/dispatch/text_check.h"
#include "server/ingest/watched_root.h"
#include "server/report/text_table.h"

namespace llmb::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kTasks = 32;

using Planned = tl::expected<BackfillPlan, BackfillRefusal>;

tl::unexpected<BackfillRefusal> bad_arguments(std::string message) {
  return tl::unexpected(BackfillRefusal({std::move(message)}, kBadArguments));
}

std::string absolute_path(const std::string& path) {
  return path.empty() ? path : fs::absolute(path).lexically_normal().string();
}

// What ROOTs name, under the names by which ingest stores them.
std::vector<std::string> root_paths(const std::vector<std::string>& given) {
  std::vector<std::string> notes;
  std::vector<std::string> paths;
  for (const ingest::RootOptions& root : choose_roots(roots_at(given), notes)) {
    paths.push_back(ingest::canonical_root_path(root.path));
  }
  for (const std::string& note : notes) {
    std::cerr << "llmb-report backfill: " << report::printable(note) << '\n';
  }
  return paths;
}

parser::Result<void> check_push(const PushArguments& push) {
  const auto options = push_options(push);
  if (!options) return tl::unexpected(options.error());
  if (!*options) {
    return parser::fail(
        "say where to: --push URL --token-file FILE --cluster NAME, as for `ingest --push`");
  }
  std::string line;
  std::ifstream token(push.token_file);
  if (std::getline(token, line) && !line.empty()) return {};
  return parser::fail(fmt::format("cannot read a token from {}", push.token_file));
}

// What may be another from one command to the next: files, folders, and what is allowed.
void take_places(const BackfillArguments& arguments, backfill::Manifest& manifest) {
  const auto take = [](std::string& place, const std::string& given) {
    if (!given.empty()) place = absolute_path(given);
  };
  take(manifest.token_file, arguments.push.token_file);
  take(manifest.ca_file, arguments.push.ca_file);
  take(manifest.catalog_file, arguments.catalog_file);
  take(manifest.database_folder, arguments.database_folder);
  if (arguments.allow_network_file_system) manifest.allow_network_file_system = true;
  if (arguments.push.sends_text) manifest.sends_text = true;
  if (arguments.skips_unreadable) manifest.skips_unreadable = true;
}

// Another server, cluster, tree or cut is another back-fill.
std::string contradiction(const BackfillArguments& arguments, const backfill::Manifest& manifest) {
  if (!arguments.push.url.empty() && arguments.push.url != manifest.server) {
    return "it goes to " + manifest.server;
  }
  if (!arguments.push.cluster.empty() && arguments.push.cluster != manifest.cluster) {
    return "it is of the cluster " + manifest.cluster;
  }
  // The tasks that are done have sent none.
  if (arguments.push.sends_text && !manifest.sends_text) {
    return "it sends no text of logs, and was begun without --push-logs";
  }
  if (!arguments.roots.empty() && root_paths(arguments.roots) != manifest.roots) {
    return fmt::format("it reads {}", fmt::join(manifest.roots, " "));
  }
  // Small trees are cut into fewer tasks than were asked for.
  const auto tasks = static_cast<std::int64_t>(manifest.tasks.size());
  if (arguments.tasks && *arguments.tasks < tasks) return fmt::format("it has {} tasks", tasks);
  return {};
}

Planned go_on(const BackfillArguments& arguments, const backfill::WorkFolder& work,
              backfill::Manifest manifest, const AskServer& ask) {
  const std::string other = contradiction(arguments, manifest);
  if (!other.empty()) {
    return bad_arguments(
        fmt::format("{} holds another back-fill: {}. Name another --work-folder for this one, or "
                    "leave out what differs to go on with that",
                    work.path(), other));
  }
  const backfill::Manifest before = manifest;
  take_places(arguments, manifest);
  if (!arguments.is_dry_run) {
    if (auto taken = ask(manifest); !taken) return tl::unexpected(taken.error());
  }
  if (manifest != before && !arguments.is_dry_run) {
    if (auto written = work.write_manifest(manifest); !written) {
      return tl::unexpected(written.error());
    }
  }
  std::cerr << fmt::format("llmb-report backfill: going on with {}, which is cut into {} task{}\n",
                           report::printable(work.path()), manifest.tasks.size(),
                           manifest.tasks.size() == 1 ? "" : "s");
  return BackfillPlan{std::move(manifest), false};
}

tl::expected<void, BackfillRefusal> measure_and_cut(const BackfillArguments& arguments,
                                                    backfill::Manifest& manifest,
                                                    const StopSignals& signals) {
  std::vector<backfill::MeasuredFolder> folders;
  int signal = 0;
  const auto goes_on = [&] { return (signal = signals.wait(std::chrono::milliseconds(0))) == 0; };
  for (const std::string& root : manifest.roots) {
    auto measured = backfill::measure_root(root, goes_on);
    if (!measured && signal != 0) {
      return tl::unexpected(BackfillRefusal(measured.error(), kSignalExit + signal));
    }
    if (!measured) return tl::unexpected(measured.error());
    for (const std::string& note : measured->notes) {
      std::cerr << "llmb-report backfill: " << report::printable(note) << '\n';
    }
    std::cerr << fmt::format("{}: {} logs, {:.1f} MB of text\n", report::printable(root),
                             parser::grouped(measured->folder.all.logs),
                             static_cast<double>(measured->folder.all.bytes) / 1e6);
    folders.push_back(std::move(measured->folder));
  }
  manifest.tasks = backfill::cut(folders, arguments.tasks.value_or(kTasks));
  if (!manifest.tasks.empty()) return {};
  return parser::fail(
      fmt::format("there is no log in {}", fmt::join(manifest.roots, " and none in ")));
}

}  // namespace

parser::Result<backfill::WorkFolder> work_folder_of(const BackfillArguments& arguments) {
  std::string path = arguments.work_folder;
  if (path.empty()) {
    if (arguments.push.cluster.empty()) {
      return parser::fail("say which back-fill: --work-folder DIR, or --cluster NAME");
    }
    path = "backfill-" + arguments.push.cluster;
  }
  path = absolute_path(path);
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  if (!dispatch::is_plain_path(path)) {
    return parser::fail(fmt::format(
        "the work folder {} has a character that Slurm or a script would take for another: name "
        "one of printable ASCII without '%' and '\\'",
        dispatch::in_quotes(path)));
  }
  return backfill::WorkFolder(path);
}

tl::expected<BackfillPlan, BackfillRefusal> plan_backfill(const BackfillArguments& arguments,
                                                          const backfill::WorkFolder& work,
                                                          const StopSignals& signals,
                                                          const AskServer& ask) {
  auto before = work.manifest();
  if (!before) return tl::unexpected(before.error());
  if (*before) return go_on(arguments, work, std::move(**before), ask);
  if (auto checked = check_push(arguments.push); !checked) {
    return bad_arguments(checked.error().message);
  }
  backfill::Manifest manifest;
  manifest.id = dispatch::new_submission_id();
  manifest.server = arguments.push.url;
  manifest.cluster = arguments.push.cluster;
  manifest.database_folder = "/var/tmp";
  take_places(arguments, manifest);
  manifest.roots = root_paths(arguments.roots);
  if (manifest.roots.empty()) {
    return bad_arguments("no tree to read: name a ROOT, or set LLMB_WORKLOAD or LLMB_INSTALL");
  }
  if (!arguments.is_dry_run) {
    if (auto taken = ask(manifest); !taken) return tl::unexpected(taken.error());
  }
  if (auto done = measure_and_cut(arguments, manifest, signals); !done) {
    return tl::unexpected(done.error());
  }
  return BackfillPlan{std::move(manifest), true};
}

void write_cut(const backfill::Manifest& manifest, std::ostream& output) {
  output << fmt::format("{:>6} {:>10} {:>12} {:>8}\n", "task", "logs", "MB", "folders");
  const auto line = [&](const std::string& name, const backfill::Measure& measure,
                        std::size_t folders) {
    output << fmt::format("{:>6} {:>10} {:>12.1f} {:>8}\n", name, parser::grouped(measure.logs),
                          static_cast<double>(measure.bytes) / 1e6, folders);
  };
  std::size_t folders = 0;
  for (std::size_t i = 0; i < manifest.tasks.size(); ++i) {
    const backfill::Share& task = manifest.tasks[i];
    line(fmt::to_string(i + 1), task.measure, task.parts.size());
    folders += task.parts.size();
  }
  line("all", manifest.measure(), folders);
}

}  // namespace llmb::cli
