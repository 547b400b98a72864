// GET /metrics: what a Prometheus reads, in OpenMetrics text. Labels are statuses, status classes,
// routes and, of results, at most LatestResults::kResultsMax configurations, so that the number of
// series never follows the number of runs or clients.
#include <algorithm>
#include <array>
#include <chrono>

#include "parser/foundation/instant.h"
#include "server/api/openmetrics_text.h"
#include "server/api/query_parameters.h"
#include "server/api/resources.h"
#include "server/dispatch/wall_clock.h"

namespace llmb::api {
namespace {

constexpr std::array kStatuses = {parser::RunStatus::running,    parser::RunStatus::complete,
                                  parser::RunStatus::incomplete, parser::RunStatus::failed,
                                  parser::RunStatus::invalid,    parser::RunStatus::no_data};

// An alarm of days ago is none.
constexpr std::chrono::hours kHungLately{24};

struct DatabaseFigures {
  storage::Reader::Totals totals;
  storage::RemovalTotal removed;
  std::int64_t hung = 0;
  std::array<std::int64_t, kStatuses.size()> runs_by_status{};
};

DatabaseFigures read_figures(storage::Reader& reader) {
  DatabaseFigures figures;
  figures.totals = reader.totals();
  figures.removed = reader.removal_total();
  figures.hung = reader.hung_run_count(
      std::chrono::floor<parser::Instant::duration>(dispatch::wall_now()) - kHungLately);
  for (std::size_t i = 0; i < kStatuses.size(); ++i) {
    storage::RunFilter filter;
    filter.status = {kStatuses[i]};
    figures.runs_by_status[i] = reader.run_count(filter);
  }
  return figures;
}

// 0 where nothing runs, and where a clock that was set puts growth into the future.
std::int64_t longest_silence_s(const storage::Reader::Totals& totals) {
  if (!totals.longest_silent_since) return 0;
  const auto since = parser::parse_instant(*totals.longest_silent_since);
  if (!since) return 0;
  const auto silence = std::chrono::system_clock::now() - *since;
  return std::max<std::int64_t>(0, std::chrono::floor<std::chrono::seconds>(silence).count());
}

void gauge(OpenMetricsText& text, std::string_view name, std::string_view unit,
           std::string_view help, std::int64_t value) {
  text.begin_family(name, "gauge", unit, help);
  text.sample("", {}, value);
}
void gauge(OpenMetricsText& text, std::string_view name, std::string_view unit,
           std::string_view help, std::uint64_t value) {
  text.begin_family(name, "gauge", unit, help);
  text.sample("", {}, value);
}
void counter(OpenMetricsText& text, std::string_view name, std::string_view unit,
             std::string_view help, std::uint64_t value) {
  text.begin_family(name, "counter", unit, help);
  text.sample("_total", {}, value);
}

void write_database(OpenMetricsText& text, const DatabaseFigures& figures) {
  text.begin_family("llmb_runs", "gauge", "", "Runs that are not superseded, by their status.");
  for (std::size_t i = 0; i < kStatuses.size(); ++i) {
    text.sample("", {{"status", parser::run_status_name(kStatuses[i])}}, figures.runs_by_status[i]);
  }
  gauge(text, "llmb_runs_hung", "", "Runs whose logs fell silent without a word in the last day.",
        figures.hung);
  text.begin_family("llmb_runs_longest_silence_seconds", "gauge", "seconds",
                    "For how long the log of a running run has not grown, of the most silent one.");
  text.sample("", {}, longest_silence_s(figures.totals));
  gauge(text, "llmb_steps", "", "Training steps stored, of all runs.", figures.totals.steps);
  const storage::RemovalCount& removed = figures.removed.count;
  counter(text, "llmb_removed_runs", "", "Runs removed by retention, ever.",
          static_cast<std::uint64_t>(removed.runs));
  counter(text, "llmb_removed_steps", "", "Steps removed with them.",
          static_cast<std::uint64_t>(removed.steps));
  counter(text, "llmb_removed_log_text_bytes", "bytes", "Text of pushed logs removed, as stored.",
          removed.log_text_bytes);
  gauge(text, "llmb_database_bytes", "bytes", "Size of the database file.",
        figures.totals.database_bytes);
  gauge(text, "llmb_database_wal_bytes", "bytes", "Size of the database's write-ahead log.",
        figures.totals.wal_bytes);
}

void write_results(OpenMetricsText& text, const std::vector<LatestResult>& results) {
  const auto family = [&](std::string_view name, std::string_view unit, std::string_view help,
                          std::optional<double> LatestResult::*field) {
    text.begin_family(name, "gauge", unit, help);
    for (const LatestResult& result : results) {
      // Logs of no known workload have nothing in common.
      if (!(result.*field) || result.workload.empty()) continue;
      text.sample("",
                  {{"workload", result.workload},
                   {"model_size", result.model_size},
                   {"dtype", result.dtype},
                   {"gpu_type", result.gpu_type},
                   {"gpus", result.gpu_count},
                   {"cluster", result.cluster}},
                  *(result.*field));
    }
  };
  family("llmb_result_step_time_seconds", "seconds",
         "Mean step time of the last complete run of a configuration.", &LatestResult::step_time_s);
  family("llmb_result_tokens_per_second_per_gpu", "", "Tokens/s/GPU of that run.",
         &LatestResult::tokens_per_s_per_gpu);
  family("llmb_result_mfu_ratio", "ratio",
         "Model FLOPs utilization of that run, by the formula of its own document.",
         &LatestResult::mfu);
  family("llmb_result_speed_against_published_ratio", "ratio",
         "Published step time / that run's: 1 is as published.",
         &LatestResult::speed_against_reference);
}

void write_ingest(OpenMetricsText& text, const ingest::IngestStatus& status) {
  gauge(text, "llmb_ingest_files_seen", "", "Training logs known under the roots.",
        status.files_seen);
  gauge(text, "llmb_ingest_files_pending", "", "Logs with bytes that are not read yet.",
        status.files_pending);
  gauge(text, "llmb_ingest_files_parked", "", "Logs set aside because they cannot be read.",
        status.files_parked);
  gauge(text, "llmb_ingest_files_of_earlier_reading", "",
        "Logs whose runs an earlier version told, whose rules have changed since.",
        status.files_of_earlier_reading);
  gauge(text, "llmb_ingest_pending_bytes", "bytes", "Bytes of logs that are not read yet.",
        status.bytes_pending);
  counter(text, "llmb_ingest_read_bytes", "bytes", "Bytes of logs read since the start.",
          status.bytes_read);
  counter(text, "llmb_ingest_samples_committed", "", "Steps stored since the start.",
          static_cast<std::uint64_t>(status.samples_committed));
  gauge(text, "llmb_ingest_halted", "", "1 while nothing can be written (disk full), else 0.",
        std::int64_t{!status.halted_reason.empty()});
  gauge(text, "llmb_ingest_first_scan_done", "", "1 once every root was scanned, else 0.",
        std::int64_t{status.first_scan_done});
  gauge(text, "llmb_ingest_root_errors", "", "Roots whose last scan failed.",
        static_cast<std::int64_t>(status.root_errors.size()));
  const auto hanging = std::count_if(status.roots.begin(), status.roots.end(),
                                     [](const auto& root) { return root.hangs_since.has_value(); });
  gauge(text, "llmb_ingest_roots_hanging", "", "Roots whose file system does not answer.",
        static_cast<std::int64_t>(hanging));
}

void write_push(OpenMetricsText& text, const std::vector<storage::PushAgentRecord>& agents) {
  std::int64_t pending = 0;
  std::int64_t silence_s = 0;
  const auto now = std::chrono::system_clock::now();
  for (const storage::PushAgentRecord& agent : agents) {
    pending += agent.logs_pending;
    const auto seen = parser::parse_instant(agent.last_seen_at);
    if (!seen) continue;
    silence_s = std::max<std::int64_t>(
        silence_s, std::chrono::floor<std::chrono::seconds>(now - *seen).count());
  }
  gauge(text, "llmb_push_agents", "", "Agents that push runs here.",
        static_cast<std::int64_t>(agents.size()));
  gauge(text, "llmb_push_logs_pending", "", "Logs that agents had still to push when they spoke.",
        pending);
  gauge(text, "llmb_push_longest_silence_seconds", "seconds",
        "For how long the agent that is silent for longest has not spoken.", silence_s);
}

void write_http(OpenMetricsText& text, const http::ServerCounters& counters) {
  text.begin_family("llmb_http_responses", "counter", "", "Responses, by class of status.");
  constexpr std::array<std::string_view, 6> kClasses = {"", "1xx", "2xx", "3xx", "4xx", "5xx"};
  for (std::size_t i = 1; i < kClasses.size(); ++i) {
    text.sample("_total", {{"class", kClasses[i]}}, counters.responses_by_class[i]);
  }
  counter(text, "llmb_http_requests", "", "Requests read.", counters.requests);
  gauge(text, "llmb_http_connections_open", "", "Connections open now.", counters.connections_open);
  counter(text, "llmb_http_connections_refused", "", "Connections refused at the limit.",
          counters.connections_refused);
  counter(text, "llmb_http_accept_pauses", "", "Times that descriptors ran out.",
          counters.accept_pauses);
  gauge(text, "llmb_http_event_streams_open", "", "Event streams open now.",
        counters.event_streams_open);
  gauge(text, "llmb_http_body_streams_open", "",
        "Answers under way that are read while they are sent: downloads of logs.",
        counters.body_streams_open);
  counter(text, "llmb_http_deadlines_missed", "", "Connections closed at a deadline.",
          counters.deadlines_missed);
  counter(text, "llmb_http_requests_busy", "",
          "Requests answered 503, for want of threads or room.", counters.requests_refused_busy);
  text.begin_family("llmb_http_bodies_held_bytes", "gauge", "bytes",
                    "Response bodies in memory now, by whether they are large ones (over 1 MiB).");
  text.sample("", {{"large", "true"}}, counters.large_bodies_bytes);
  text.sample("", {{"large", "false"}}, counters.other_bodies_bytes);
}

void write_http_latency(OpenMetricsText& text, const http::ServerCounters& counters) {
  text.begin_family("llmb_http_request_seconds", "histogram", "seconds",
                    "Time from a request's last byte to its response's first.");
  std::uint64_t cumulative = 0;
  for (std::size_t i = 0; i < counters.latency_counts.size(); ++i) {
    cumulative += counters.latency_counts[i];
    const bool is_bounded = i < http::kLatencyBoundsS.size();
    const std::string bound = is_bounded ? metric_number(http::kLatencyBoundsS[i]) : "+Inf";
    text.sample("_bucket", {{"le", bound}}, cumulative);
  }
  text.sample("_sum", {}, counters.latency_s_sum);
  text.sample("_count", {}, cumulative);
}

void write_handler_latency(OpenMetricsText& text, const RequestMetrics& metrics) {
  text.begin_family("llmb_http_handler_seconds", "histogram", "seconds",
                    "Time to make an answer, by route; without compressing it.");
  for (const auto& [route, latency] : metrics.by_route()) {
    std::uint64_t cumulative = 0;
    for (std::size_t i = 0; i < latency.buckets.size(); ++i) {
      cumulative += latency.buckets[i];
      const std::string bound =
          i < kHandlerLatencyBoundsS.size() ? metric_number(kHandlerLatencyBoundsS[i]) : "+Inf";
      text.sample("_bucket", {{"route", route}, {"le", bound}}, cumulative);
    }
    text.sample("_sum", {{"route", route}}, latency.sum_s);
    text.sample("_count", {{"route", route}}, latency.count);
  }
}

}  // namespace

http::Response get_metrics(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {});
  OpenMetricsText text;
  text.begin_family("llmb_build", "info", "", "The program that answers.");
  text.sample("_info", {{"version", context.options.version}}, std::int64_t{1});
  write_ingest(text, context.options.ingest_status());
  const http::ServerCounters counters = context.options.server_counters();
  write_http(text, counters);
  write_http_latency(text, counters);
  write_handler_latency(text, context.request_metrics);
  // A scrape must not fail with the database: that it is unreadable is a figure of its own.
  std::int64_t is_readable = 1;
  try {
    write_database(text, context.readers.with_reader(read_figures));
    write_push(text, context.readers.with_reader([](storage::Reader& reader) {
      return reader.listed_push_agents(dispatch::wall_now());
    }));
    write_results(text, context.latest_results.read(context.readers));
  } catch (const storage::StorageError&) {
    is_readable = 0;
  }
  gauge(text, "llmb_database_readable", "", "1 if the database can be read, else 0.", is_readable);
  http::Response response = http::json_response(std::move(text).finish());
  response.content_type = kOpenMetricsContentType;
  response.cache_control = "no-store";
  return response;
}

}  // namespace llmb::api
