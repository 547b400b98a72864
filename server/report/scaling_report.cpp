#include "server/report/scaling_report.h"

#include <algorithm>
#include <ostream>
#include <string_view>
#include <tuple>

#include "server/report/cluster_words.h"
#include "server/report/csv_line.h"
#include "server/report/published_standing_text.h"
#include "server/report/text_table.h"

namespace llmb::report {
namespace {

using parser::PublishedPoint;
using parser::ScalingPoint;
using parser::ScalingSeries;

// What was measured and what was published of one scale and global batch size.
struct ScalingRow {
  std::int64_t gpu_count = 0;
  std::optional<std::int64_t> global_batch_size;
  const ScalingPoint* measured = nullptr;
  const PublishedPoint* published = nullptr;
};

std::vector<ScalingRow> rows_of(const ScalingSeries& series) {
  std::vector<ScalingRow> rows;
  for (const ScalingPoint& point : series.points) {
    rows.push_back({point.gpu_count, point.global_batch_size, &point, nullptr});
  }
  for (const PublishedPoint& point : series.published) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const ScalingRow& candidate) {
      return candidate.gpu_count == point.reference->gpu_count &&
             candidate.global_batch_size == point.global_batch_size;
    });
    if (row == rows.end()) {
      rows.push_back({point.reference->gpu_count, point.global_batch_size, nullptr, &point});
    } else {
      row->published = &point;
    }
  }
  std::sort(rows.begin(), rows.end(), [](const ScalingRow& a, const ScalingRow& b) {
    return std::tie(a.gpu_count, a.global_batch_size) < std::tie(b.gpu_count, b.global_batch_size);
  });
  return rows;
}

std::vector<std::string> cells_of(const ScalingRow& row) {
  std::vector<std::string> cells = {
      std::to_string(row.gpu_count),
      row.global_batch_size ? std::to_string(*row.global_batch_size) : "-"};
  if (const ScalingPoint* const point = row.measured) {
    const parser::MeanEstimate& rate = point->tokens_per_s_per_gpu;
    const auto& speed = point->speed_against_reference;
    cells.push_back(std::string(parser::scaling_kind_name(point->kind)));
    cells.push_back(std::to_string(rate.run_count));
    cells.push_back(fixed(rate.mean, 1) +
                    (rate.high ? " ± " + fixed(*rate.high - rate.mean, 1) : ""));
    cells.push_back(point->efficiency ? fixed(*point->efficiency, 4) : "-");
    cells.push_back(speed ? fixed(speed->mean, 4) : "-");
    cells.push_back(standing_text(point->published_standing));
  } else {
    cells.insert(cells.end(), {"-", "0", "-", "-", "-", "-"});
  }
  if (const PublishedPoint* const point = row.published) {
    cells.push_back(fixed(point->tokens_per_s_per_gpu, 1));
    cells.push_back(fixed(point->efficiency, 4));
  } else {
    cells.insert(cells.end(), {"-", "-"});
  }
  return cells;
}

void write_left_out(const parser::ScalingRuns& runs,
                    const std::vector<parser::LeftOutRun>& left_out, std::ostream& out) {
  for (const parser::LeftOutRun& entry : left_out) {
    const parser::ScalingRun& run = *runs[entry.run];
    out << "  left out: " << printable(run.experiment);
    if (run.job_id) out << " (job " << *run.job_id << ")";
    out << ": " << printable(entry.reason) << '\n';
  }
}

// Why the point has no such number; nothing where it has one.
void write_reason(std::string_view number, const ScalingPoint& point, const std::string& reason,
                  std::ostream& out) {
  if (reason.empty()) return;
  out << "  no " << number << " at " << point.gpu_count << " GPUs: " << printable(reason) << '\n';
}

void write_series(const parser::ScalingRuns& runs, const ScalingSeries& series, bool with_cluster,
                  std::ostream& out) {
  std::string title =
      series.workload + " " + series.model_size + " " + series.dtype + " on " + series.gpu_type;
  if (with_cluster) title += ", " + cluster_words(series.cluster);
  const std::string differences = parser::differences_text(series.differences);
  if (!differences.empty()) title += ": " + differences;
  out << '\n' << printable(title) << '\n' << std::string(display_width(title), '=') << '\n';
  const auto rows = rows_of(series);
  if (!rows.empty()) {
    TextTable table({">GPUs", ">Global batch", "Scaling", ">Runs", ">Tokens/s/GPU", ">Efficiency",
                     ">Speed against published", "Published result", ">Published tokens/s/GPU",
                     ">Published efficiency"});
    for (const ScalingRow& row : rows) table.add(cells_of(row));
    table.print(out);
  }
  for (const ScalingPoint& point : series.points) {
    if (!point.differences.empty()) {
      out << "  one of several layouts at " << point.gpu_count << " GPUs, " << point.runs.size()
          << (point.runs.size() == 1 ? " run: " : " runs: ")
          << printable(parser::differences_text(point.differences)) << '\n';
    }
    write_reason("efficiency", point, point.efficiency_reason, out);
    write_reason("speed against published", point, point.published_reason, out);
  }
  if (series.points.empty()) out << "  Nothing measured: every run is left out.\n";
  if (!series.published.empty()) out << "  published: " << series.document->id << '\n';
  write_left_out(runs, series.left_out, out);
}

}  // namespace

void write_scaling_table(const parser::ScalingRuns& runs, const parser::ScalingReport& report,
                         std::ostream& out) {
  out << "Tokens/s/GPU: mean of runs ± the half width of its 95 % interval (Student's t on run\n"
         "means). Efficiency: against the smallest scale of the series, 1 is perfect.\n"
      << kStandingNote;
  const bool with_clusters = has_clusters(report.series);
  for (const ScalingSeries& series : report.series) {
    write_series(runs, series, with_clusters, out);
  }
  if (report.unplaced.empty()) return;
  out << "\nIn no series:\n";
  write_left_out(runs, report.unplaced, out);
}

void write_scaling_csv(const parser::ScalingReport& report, std::ostream& out) {
  out << "workload,model_size,dtype,gpu_type,gpu_count,global_batch_size,scaling,run_count,"
         "tokens_per_s_per_gpu,stddev_sample,low,high,efficiency,efficiency_reason,"
         "speed_against_reference,published_document,published_step_time_s,"
         "published_tokens_per_s_per_gpu,published_efficiency,differences,cluster,"
      << kStandingColumns << "\r\n";
  for (const ScalingSeries& series : report.series) {
    for (const ScalingRow& row : rows_of(series)) {
      CsvLine line(out);
      for (const auto* text :
           {&series.workload, &series.model_size, &series.dtype, &series.gpu_type}) {
        line.add(std::string_view(*text));
      }
      line.add(row.gpu_count);
      line.add(row.global_batch_size);
      if (const ScalingPoint* const point = row.measured) {
        const parser::MeanEstimate& rate = point->tokens_per_s_per_gpu;
        line.add(parser::scaling_kind_name(point->kind));
        line.add(rate.run_count);
        line.add(rate.mean);
        line.add(rate.stddev_sample);
        line.add(rate.low);
        line.add(rate.high);
        line.add(point->efficiency);
        line.add(std::string_view(point->efficiency_reason));
        line.add(point->speed_against_reference
                     ? std::optional(point->speed_against_reference->mean)
                     : std::nullopt);
      } else {
        line.add_empty();
        line.add(std::int64_t{0});
        line.add_empty(7);
      }
      if (const PublishedPoint* const point = row.published) {
        line.add(std::string_view(point->reference->document));
        line.add(point->reference->step_time_s->value);
        line.add(point->tokens_per_s_per_gpu);
        line.add(point->efficiency);
      } else {
        line.add_empty(4);
      }
      std::vector<parser::DifferingValue> differences = series.differences;
      if (row.measured != nullptr) {
        const auto& layout = row.measured->differences;
        differences.insert(differences.end(), layout.begin(), layout.end());
      }
      const std::string differing = parser::differences_text(differences);
      line.add(std::string_view(differing));
      line.add(std::string_view(series.cluster));
      add_standing(line, row.measured != nullptr ? row.measured->published_standing : std::nullopt);
    }
  }
}

}  // namespace llmb::report
