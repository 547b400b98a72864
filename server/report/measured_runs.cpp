#include "server/report/measured_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "parser/foundation/text.h"
#include "server/report/log_discovery.h"
#include "server/report/log_parsing.h"
#include "server/report/report.h"
#include "server/report/skipped_logs.h"
#include "server/report/stored_runs.h"
#include "server/report/text_table.h"
#include "storage/database.h"
#include "storage/database_place.h"

namespace llmb::report {
namespace {

namespace fs = std::filesystem;
using parser::ComparedMetric;
using parser::Result;

constexpr std::int64_t kPageSize = 500;
constexpr std::streamsize kBlockBytes = 1 << 16;

parser::ComparedRun measure_log(const ReportedRun& run) {
  parser::ComparedRun compared;
  compared.experiment = run.run_path.experiment.empty() ? run.path : short_name(run.run_path);
  compared.job_id = run.run_path.job_id;
  compared.path = run.path;
  compared.cluster = run.run_path.configuration.value("cluster");
  compared.launched_at = run.run_path.launched_at;
  compared.configuration = run.run_path.configuration;
  compared.dialect = run.facts.dialect;
  compared.has_profiles = run.is_profiled;
  compared.nccl_trace_seen = run.facts.nccl_trace_seen;
  compared.steady_steps = run.steady_steps;
  compared.judgement = run.judgement;
  compared.published = run.published.value_or(run.judgement);
  // Of lines that no file here holds alone: what find_equal_logs() tells of files.
  if (run.text_hash) {
    compared.content_key.by_bytes = fmt::format("{} bytes, {:x}", run.size_bytes, *run.text_hash);
  }
  return compared;
}

// One thing that was named: all of it together, or one side of a comparison.
struct NamedSide {
  std::string name;
  std::vector<std::string> names;
};

// Two sides, or all of it as one that is no side.
std::vector<NamedSide> sides_of(const RunSource& source) {
  if (!source.base.empty()) {
    return {{"base", source.base}, {"candidate", source.candidate}};
  }
  if (source.two_are_sides && source.names.size() == 2) {
    return {{source.names[0], {source.names[0]}}, {source.names[1], {source.names[1]}}};
  }
  return {{"", source.names}};
}

// The bytes of two files of one size, read side by side. What cannot be read is not equal.
bool have_equal_bytes(const std::string& first, const std::string& second) {
  std::ifstream a(first, std::ios::binary);
  std::ifstream b(second, std::ios::binary);
  std::vector<char> block(kBlockBytes);
  std::vector<char> other(kBlockBytes);
  while (a && b) {
    a.read(block.data(), kBlockBytes);
    b.read(other.data(), kBlockBytes);
    if (a.gcount() != b.gcount()) return false;
    if (!std::equal(block.begin(), block.begin() + a.gcount(), other.begin())) return false;
  }
  return a.eof() && b.eof();
}

// The last bytes of a file, in which the step times of a log of the same form differ.
std::string last_bytes_of(const std::string& path) {
  constexpr std::streamoff kLastBytes = 4'096;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  file.seekg(std::max<std::streamoff>(0, static_cast<std::streamoff>(file.tellg()) - kLastBytes));
  return {std::istreambuf_iterator<char>(file), {}};
}

// Files of one size that end alike are read again and compared; equal ones get one key.
void find_equal_logs(std::vector<parser::ComparedRun>& runs,
                     const std::vector<std::uint64_t>& sizes) {
  std::map<std::uint64_t, std::vector<std::size_t>> of_size;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].content_key.by_bytes.empty()) of_size[sizes[i]].push_back(i);
  }
  for (const auto& [size, indexes] : of_size) {
    if (indexes.size() < 2) continue;
    std::map<std::string, std::vector<std::size_t>> alike;
    for (const std::size_t i : indexes) {
      auto& candidates = alike[last_bytes_of(runs[i].path)];
      const auto original = std::find_if(
          candidates.begin(), candidates.end(),
          [&](std::size_t earlier) { return have_equal_bytes(runs[earlier].path, runs[i].path); });
      if (original == candidates.end()) {
        candidates.push_back(i);
        continue;
      }
      runs[*original].content_key.by_bytes = runs[*original].path;
      runs[i].content_key.by_bytes = runs[*original].path;
    }
  }
}

// `cluster`: that a run is of; empty: not known.
bool is_wanted(const RunSource& source, std::string_view cluster) {
  return source.cluster.empty() || cluster == source.cluster;
}

// `runs`: those that there are, where they were measured.
tl::unexpected<parser::Error> no_run_of_cluster(const RunSource& source,
                                                const std::vector<parser::ComparedRun>& runs = {}) {
  std::set<std::string> known;
  for (const parser::ComparedRun& run : runs) {
    if (run.cluster) known.insert(*run.cluster);
  }
  std::string text = fmt::format("no run is of the cluster '{}'", source.cluster);
  if (!known.empty()) text += fmt::format("; they are of: {}", fmt::join(known, ", "));
  return parser::fail(std::move(text));
}

bool is_folder(const std::string& name) {
  std::error_code error;
  return fs::is_directory(name, error);
}

Result<MeasuredRuns> measure_trees(const RunSource& source, const parser::Catalog& catalog) {
  const std::vector<NamedSide> sides = sides_of(source);
  ParsingOptions options;
  options.window = source.window;
  options.without = source.without;
  options.judges_published = true;
  options.catalog = &catalog;
  options.tokens_to_train = parser::kTokensToTrainDefault;
  MeasuredRuns measured;
  measured.is_chosen = true;
  std::vector<std::uint64_t> sizes;
  for (std::size_t side = 0; side < sides.size(); ++side) {
    for (const std::string& name : sides[side].names) {
      std::error_code error;
      if (!fs::exists(name, error)) {
        return parser::fail(fmt::format("there is no file or folder '{}'", name));
      }
      measured.is_chosen = measured.is_chosen && !is_folder(name);
    }
    const LogReport report = parse_logs(discover_logs(sides[side].names), options);
    tell_skipped(report, std::cerr);
    if (report.runs.empty()) {
      return parser::fail(no_log_text(sides[side].names, report.others));
    }
    for (const ReportedRun& run : report.runs) {
      measured.runs.push_back(measure_log(run));
      measured.trees.learn(measured.runs.back().tree, measured.runs.back().cluster);
      sizes.push_back(run.size_bytes);
      if (sides.size() > 1) measured.sides.push_back(side);
    }
    if (sides.size() > 1) measured.side_names.push_back(sides[side].name);
  }
  find_equal_logs(measured.runs, sizes);
  // Now that all that was named has been read.
  parser::name_clusters(measured.runs, measured.trees);
  const auto is_kept = [&](const parser::ComparedRun& run) {
    return is_wanted(source, run.cluster.value_or(""));
  };
  if (std::none_of(measured.runs.begin(), measured.runs.end(), is_kept)) {
    return no_run_of_cluster(source, measured.runs);
  }
  keep_runs(measured, is_kept);
  for (std::size_t i = 0; i < measured.runs.size(); ++i) {
    measured.runs[i].id = static_cast<std::int64_t>(i) + 1;
  }
  measured.noise_runs = parser::noise_runs(measured.runs);
  measured.published_noise_runs = parser::published_noise_runs(measured.runs);
  return measured;
}

std::vector<storage::RunId> all_run_ids(storage::Reader& reader, const RunSource& source) {
  std::vector<storage::RunId> ids;
  storage::RunQuery query;
  if (!source.cluster.empty()) query.filter.cluster = {source.cluster};
  query.filter.include_superseded = source.with_superseded;
  query.sort = storage::RunSortKey::id;
  query.descending = false;
  query.limit = kPageSize;
  do {
    const storage::RunPage page = reader.runs(query);
    for (const storage::RunRecord& run : page.runs) ids.push_back(run.id);
    query.after = page.next;
  } while (query.after);
  return ids;
}

Result<MeasuredRuns> measure_database(const RunSource& source, const parser::Catalog& catalog) {
  storage::Reader reader(source.database);
  const std::vector<NamedSide> sides = sides_of(source);
  MeasuredRuns measured;
  measured.trees = reader.tree_clusters();
  measured.is_chosen = !source.names.empty() || sides.size() > 1;
  for (std::size_t side = 0; side < sides.size(); ++side) {
    auto ids = read_run_ids(sides[side].names);
    if (!ids) return tl::unexpected(ids.error());
    const bool is_named = !ids->empty();
    if (!is_named) ids = all_run_ids(reader, source);
    if (ids->empty()) {
      return source.cluster.empty()
                 ? parser::fail(fmt::format("the database {} holds no run",
                                            storage::shown_place(source.database)))
                 : no_run_of_cluster(source);
    }
    for (const storage::RunId id : *ids) {
      const auto run = reader.run(id);
      if (!run) {
        return parser::fail(
            fmt::format("there is no run {} in {}", id, storage::shown_place(source.database)));
      }
      if (!is_wanted(source, measured.trees.of(run->root_id, run->cluster))) continue;
      auto compared = measure_stored_run(reader, *run, catalog, source.window, source.without);
      if (!compared) {
        const std::string& why = compared.error().message;
        if (is_named) return parser::fail(fmt::format("run {}: {}", id, why));
        std::cerr << fmt::format("llmb-report: left out run {} ({}): {}\n", id,
                                 printable(run->relative_path), why);
        compared = unmeasured_run(reader, *run, catalog, source.window, why);
      }
      measured.runs.push_back(std::move(*compared));
      if (sides.size() > 1) measured.sides.push_back(side);
    }
    if (sides.size() > 1) {
      const std::string& name = sides[side].name;
      const bool is_of_ids = source.base.empty();
      measured.side_names.push_back(!is_of_ids ? name
                                               : (ids->size() > 1 ? "runs " : "run ") + name);
    }
  }
  if (measured.runs.empty()) return no_run_of_cluster(source);
  parser::name_clusters(measured.runs, measured.trees);
  if (measured.is_chosen) {
    measured.noise_runs = own_window_noise_runs(reader, catalog, measured.runs.front());
    measured.published_noise_runs = measured.noise_runs;
  } else {
    measured.noise_runs = parser::noise_runs(measured.runs);
    measured.published_noise_runs = parser::published_noise_runs(measured.runs);
  }
  return measured;
}

}  // namespace

Result<std::vector<std::int64_t>> read_run_ids(const std::vector<std::string>& names) {
  std::vector<std::int64_t> ids;
  for (const std::string& name : names) {
    for (const std::string_view part : parser::split(name, ',')) {
      std::int64_t id = 0;
      const char* const end = part.data() + part.size();
      const auto [stop, error] = std::from_chars(part.data(), end, id);
      if (error != std::errc() || stop != end || id < 1) {
        return parser::fail(
            fmt::format("'{}' is no run id: with --db runs are named by number", part));
      }
      if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
    }
  }
  return ids;
}

void keep_runs(MeasuredRuns& measured,
               const std::function<bool(const parser::ComparedRun&)>& is_kept) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < measured.runs.size(); ++i) {
    if (!is_kept(measured.runs[i])) continue;
    if (kept != i) {
      measured.runs[kept] = std::move(measured.runs[i]);
      if (!measured.sides.empty()) measured.sides[kept] = measured.sides[i];
    }
    ++kept;
  }
  measured.runs.resize(kept);
  if (!measured.sides.empty()) measured.sides.resize(kept);
}

Result<MeasuredRuns> measure_runs(const RunSource& source, const parser::Catalog& catalog) {
  return source.database.empty() ? measure_trees(source, catalog)
                                 : measure_database(source, catalog);
}

}  // namespace llmb::report
