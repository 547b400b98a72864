#include "parser/dialects/failure_node.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "parser/foundation/text.h"
#include "parser/lines/line_prefix.h"

namespace llmb::parser {
namespace {

std::string_view first_group(const RE2& pattern, std::string_view text) {
  re2::StringPiece group;
  if (!RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), pattern, &group)) return {};
  return {group.data(), group.size()};
}

// What is told by who waited for another rank, or lost it.
constexpr auto kToldByWitnesses =
    std::to_array<std::string_view>({"peer_lost", "nccl_timeout", "rendezvous_failure"});
// What NCCL warns of where the other end, or what lies between, may have failed: "Connection closed
// by remote peer", "Got completion from peer", "connect returned Connection timed out".
constexpr auto kOfTwoNodes =
    std::to_array<std::string_view>({" peer ", "emote ", "onnect", "Broken pipe", "imed out"});

}  // namespace

std::string_view node_of_failure(std::string_view cause, std::string_view line) {
  if (std::find(kToldByWitnesses.begin(), kToldByWitnesses.end(), cause) !=
      kToldByWitnesses.end()) {
    return {};
  }
  static const RE2 of_task(R"(\bsrun: error: ([A-Za-z0-9][\w.-]{0,127}): tasks? [\d,-]+: )");
  static const RE2 of_node(
      R"(\bsrun: error: .*(?:Node failure|failed) on (?:node )?([A-Za-z0-9][\w.-]{0,127})(?::|$))");
  static const RE2 of_nccl(R"(^([A-Za-z0-9][\w.-]{0,127}):\d+:\d+ \[\d+\] .*\bNCCL WARN )");
  // SIGTERM: another task had failed, or somebody ended the step.
  if (const auto node = first_group(of_task, line); !node.empty()) {
    return line.find(": Terminated") == std::string_view::npos ? node : std::string_view();
  }
  if (const auto node = first_group(of_node, line); !node.empty()) return node;
  if (line.find(" NCCL WARN ") == std::string_view::npos || holds_one_of(line, kOfTwoNodes)) {
    return {};
  }
  return first_group(of_nccl, without_collector_prefix(line));
}

}  // namespace llmb::parser
