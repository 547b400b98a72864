// How a FailureReport is written down.
#include <fmt/format.h>

#include <ostream>
#include <string_view>

#include "parser/dialects/failure_class.h"
#include "server/report/csv_line.h"
#include "server/report/failure_report.h"
#include "server/report/json.h"
#include "server/report/text_table.h"

namespace llmb::report {
namespace {

double share_of(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

void add_counted(Json& json, const storage::CountedRuns& counted) {
  json["runs"] = counted.runs;
  json["newest_run"] = counted.newest_run;
  json["newest_began_at"] = counted.newest_began_at;
}

Json causes_json(const FailureReport& report) {
  Json list = Json::array();
  for (const FailureReport::Cause& cause : report.causes) {
    const parser::FailureClass* const known = parser::find_failure_class(cause.cause);
    Json json = {{"cause", cause.cause},
                 {"advice", known != nullptr ? Json(known->advice) : Json(nullptr)}};
    add_counted(json, cause.counted);
    json["running"] = cause.running;
    json["share"] = share_of(cause.counted.runs, report.ended);
    list.push_back(std::move(json));
  }
  return list;
}

Json unexplained_json(const FailureReport& report) {
  Json list = Json::array();
  for (const FailureReport::Unexplained& one : report.unexplained) {
    Json json = {{"status", parser::run_status_name(one.status)}};
    add_counted(json, one.counted());
    json["all_steps_run"] = one.all_steps_run.runs;
    json["share"] = share_of(one.counted().runs, report.ended);
    list.push_back(std::move(json));
  }
  return list;
}

Json clusters_json(const FailureReport& report) {
  Json list = Json::array();
  for (const FailureReport::Cluster& cluster : report.clusters) {
    Json json = {{"cluster", null_if_empty(cluster.cluster)}, {"ended", cluster.ended}};
    json["failed"] = cluster.failed;
    json["share"] = share_of(cluster.failed, cluster.ended);
    list.push_back(std::move(json));
  }
  return list;
}

Json nodes_json(const FailureReport& report) {
  Json list = Json::array();
  for (const FailureReport::Node& node : report.nodes) {
    Json json = {{"node", node.node}};
    add_counted(json, node.counted);
    json["causes"] = Json::array();
    for (const auto& [cause, runs] : node.causes) {
      json["causes"].push_back({{"cause", cause}, {"runs", runs}});
    }
    json["newest_runs"] = node.newest_runs;
    list.push_back(std::move(json));
  }
  return list;
}

Json periods_json(const FailureReport& report) {
  Json list = Json::array();
  for (const FailureReport::Period& period : report.periods) {
    list.push_back({{"begins_on", period.begins_on},
                    {"ended", period.ended},
                    {"failed", period.failed},
                    {"complete", period.complete}});
  }
  return list;
}

std::string percent(std::int64_t part, std::int64_t whole) {
  return fixed(100 * share_of(part, whole), 1) + " %";
}

std::string day_text(const storage::CountedRuns& counted) {
  return counted.newest_began_at.substr(0, 10);
}

constexpr std::string_view kNoCause = "no failure found";
constexpr std::string_view kAllStepsRun = "all steps were run";

void write_causes(const FailureReport& report, std::ostream& out) {
  TextTable causes({"cause", ">runs", ">share", ">newest", "began"});
  const auto add = [&](const std::string& name, const storage::CountedRuns& counted) {
    causes.add({name, std::to_string(counted.runs), percent(counted.runs, report.ended),
                std::to_string(counted.newest_run), day_text(counted)});
  };
  for (const FailureReport::Cause& cause : report.causes) {
    add(printable(cause.cause), cause.counted);
  }
  for (const FailureReport::Unexplained& one : report.unexplained) {
    const auto add_some = [&](std::string_view what, const storage::CountedRuns& counted) {
      if (counted.runs == 0) return;
      add(fmt::format("{}, {}", parser::run_status_name(one.status), what), counted);
    };
    add_some(kNoCause, one.stopped);
    add_some(kAllStepsRun, one.all_steps_run);
  }
  out << '\n';
  causes.print(out);
}

void write_clusters(const FailureReport& report, std::ostream& out) {
  TextTable clusters({"cluster", ">ended", ">failed", ">share"});
  for (const FailureReport::Cluster& one : report.clusters) {
    clusters.add({one.cluster.empty() ? "none named" : printable(one.cluster),
                  std::to_string(one.ended), std::to_string(one.failed),
                  percent(one.failed, one.ended)});
  }
  out << '\n';
  clusters.print(out);
}

void write_nodes(const FailureReport& report, std::ostream& out) {
  TextTable nodes({"node", ">runs", "causes", ">newest", "began"});
  for (const FailureReport::Node& node : report.nodes) {
    std::string words;
    for (const auto& [cause, runs] : node.causes) {
      words += fmt::format("{}{} {}", words.empty() ? "" : ", ", runs, printable(cause));
    }
    nodes.add({printable(node.node), std::to_string(node.counted.runs), words,
               std::to_string(node.counted.newest_run), day_text(node.counted)});
  }
  out << '\n';
  nodes.print(out);
  if (const std::int64_t more = report.nodes_left_out; more > 0) {
    out << fmt::format("{} more {} left out\n", more, more == 1 ? "node is" : "nodes are");
  }
  if (!report.nodes_are_of_all) {
    out << fmt::format("Read are the lines of the {} failed runs that were stored last.\n",
                       storage::kFailedRunsReadMax);
  }
}

}  // namespace

Json failures_json(const FailureReport& report) {
  Json json;
  json["ended"] = report.ended;
  json["failed"] = report.failed;
  json["complete"] = report.complete;
  json["causes"] = causes_json(report);
  json["unexplained"] = unexplained_json(report);
  json["clusters"] = clusters_json(report);
  json["nodes"] = nodes_json(report);
  json["nodes_left_out"] = report.nodes_left_out;
  json["nodes_are_of_all"] = report.nodes_are_of_all;
  json["period"] = report.period;
  json["periods"] = periods_json(report);
  json["ended_before"] = report.ended_before;
  return json;
}

void write_failures_table(const FailureReport& report, std::ostream& out) {
  out << fmt::format("{} of {} ended runs failed ({}), {} complete\n", report.failed, report.ended,
                     percent(report.failed, report.ended), report.complete);
  write_causes(report, out);
  if (report.clusters.size() > 1) write_clusters(report, out);
  if (!report.nodes.empty()) write_nodes(report, out);
}

void write_failures_csv(const FailureReport& report, std::ostream& out) {
  out << "cause,status,runs,share,newest_run,newest_began_at,all_steps_run\r\n";
  const auto write = [&](const std::string& cause, std::string_view status,
                         const storage::CountedRuns& counted, std::int64_t all_steps_run) {
    CsvLine line(out);
    line.add(cause);
    line.add(status);
    line.add(counted.runs);
    line.add(share_of(counted.runs, report.ended));
    line.add(counted.newest_run);
    line.add(counted.newest_began_at);
    line.add(all_steps_run);
  };
  for (const FailureReport::Cause& cause : report.causes) write(cause.cause, "", cause.counted, 0);
  for (const FailureReport::Unexplained& one : report.unexplained) {
    write("", parser::run_status_name(one.status), one.counted(), one.all_steps_run.runs);
  }
}

}  // namespace llmb::report
