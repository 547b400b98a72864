#include "server/report/agreement_json.h"

#include "server/report/json.h"
#include "server/report/run_json.h"

namespace llmb::report {

Json agreement_json(const parser::RunSummary& ours, const std::vector<parser::ToolResult>& tools) {
  Json json;
  json["ours"] = {{"window", parser::to_string(ours.window)},
                  {"status", parser::run_status_name(ours.status)},
                  {"status_reason", ours.status_reason},
                  {"step_time_s", statistics_json(ours.step_time_s)},
                  {"tflops_per_gpu", statistics_json(ours.tflops_per_gpu)}};
  json["tools"] = Json::array();
  for (const parser::ToolResult& tool : tools) {
    json["tools"].push_back({{"tool", tool.tool},
                             {"release", tool.release},
                             {"source", tool.source},
                             {"metric", tool.metric},
                             {"rule", tool.rule},
                             {"window", tool.window},
                             {"deviation", parser::deviation_name(tool.deviation)},
                             {"reads_such_logs", tool.reads_such_logs},
                             {"gives_result", tool.gives_result},
                             {"reason", null_if_empty(tool.reason)},
                             {"is_exact", tool.is_exact},
                             {"step_count", tool.step_count},
                             {"step_time_s_mean", number(tool.step_time_s_mean)},
                             {"step_time_s_std", number(tool.step_time_s_std)},
                             {"tflops_per_gpu_mean", number(tool.tflops_per_gpu_mean)},
                             {"difference_to_ours", number(tool.difference_to_ours)},
                             {"why", tool.why}});
  }
  return json;
}

}  // namespace llmb::report
