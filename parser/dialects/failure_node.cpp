#include "parser/dialects/failure_node.h"

#include <re2/re2.h>

#include "parser/lines/line_prefix.h"

namespace llmb::parser {
namespace {

std::string_view first_group(const RE2& pattern, std::string_view text) {
  re2::StringPiece group;
  if (!RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), pattern, &group)) return {};
  return {group.data(), group.size()};
}

}  // namespace

std::string_view node_of_failure(std::string_view line) {
  static const RE2 of_task(R"(\bsrun: error: ([A-Za-z0-9][\w.-]{0,127}): tasks? [\d,-]+: )");
  static const RE2 of_node(
      R"(\bsrun: error: .*(?:Node failure|failed) on (?:node )?([A-Za-z0-9][\w.-]{0,127})(?::|$))");
  static const RE2 of_nccl(R"(^([A-Za-z0-9][\w.-]{0,127}):\d+:\d+ \[\d+\] .*\bNCCL WARN )");
  for (const RE2* const pattern : {&of_task, &of_node}) {
    if (const auto node = first_group(*pattern, line); !node.empty()) return node;
  }
  if (line.find(" NCCL WARN ") == std::string_view::npos) return {};
  return first_group(of_nccl, without_collector_prefix(line));
}

}  // namespace llmb::parser
