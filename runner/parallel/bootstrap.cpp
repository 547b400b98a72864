#include "runner/parallel/bootstrap.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace llmb::runner {
namespace {

using Environment = std::map<std::string, std::string, std::less<>>;

constexpr std::array kVariables = {"SLURM_PROCID",
                                   "SLURM_LOCALID",
                                   "SLURM_NODEID",
                                   "SLURM_NTASKS",
                                   "SLURM_STEP_NUM_TASKS",
                                   "SLURM_STEP_ID",
                                   "SLURM_STEPID",
                                   "SLURM_STEP_NODELIST",
                                   "SLURM_STEP_TASKS_PER_NODE",
                                   "SLURM_JOB_NODELIST",
                                   "SLURM_JOB_ID",
                                   "SLURM_CLUSTER_NAME",
                                   "SLURM_LAUNCH_NODE_IPADDR",
                                   "RANK",
                                   "LOCAL_RANK",
                                   "LOCAL_WORLD_SIZE",
                                   "WORLD_SIZE",
                                   "GROUP_WORLD_SIZE",
                                   "MASTER_ADDR",
                                   "MASTER_PORT",
                                   "TORCHELASTIC_RUN_ID",
                                   "TORCHELASTIC_USE_AGENT_STORE",
                                   "LLMB_RENDEZVOUS_KEY",
                                   "LLMB_RENDEZVOUS_WAIT_S"};

std::string_view value_of(const Environment& environment, std::string_view name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string_view() : std::string_view(found->second);
}

// A whole number, or nothing.
template <typename Number = int>
std::optional<Number> whole_number(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < Number{0})
    return std::nullopt;
  return value;
}

// The first of the variables that is set, as a number; nothing where none is.
template <typename Number = int>
parser::Result<std::optional<Number>> number(const Environment& environment,
                                             std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const std::string_view text = value_of(environment, name);
    if (text.empty()) continue;
    const auto value = whole_number<Number>(text);
    if (!value) return parser::fail(std::string(name) + "=" + std::string(text) + " is no number");
    return value;
  }
  return std::nullopt;
}

// Slurm's numbers of steps without tasks of their own begin here: of a batch script, and of the
// shell that salloc opens.
constexpr std::uint32_t kFirstSpecialStep = 0xfffffff0;

// Another port for every step, below the range from which systems give out ports on their own. Two
// clusters may share a machine, and count their jobs from 1.
int derived_port(std::string_view cluster, int job, std::uint32_t step) {
  constexpr int kFirst = 15000;
  constexpr int kCount = 15000;
  int start = 0;
  for (const char c : cluster) start = (start * 31 + static_cast<unsigned char>(c)) % kCount;
  return kFirst + (start + job % kCount * 17 + static_cast<int>(step % kCount)) % kCount;
}

// Within a step: torchrun, as its one task a node, started this process. Then Slurm's variables
// count torchrun's agents. What a torchrun said that submitted this job counts others.
bool is_by_torchrun(const Environment& environment) {
  return !value_of(environment, "TORCHELASTIC_RUN_ID").empty() &&
         !value_of(environment, "RANK").empty() && !value_of(environment, "LOCAL_RANK").empty() &&
         !value_of(environment, "WORLD_SIZE").empty() &&
         value_of(environment, "GROUP_WORLD_SIZE") == value_of(environment, "SLURM_STEP_NUM_TASKS");
}

// Rank and size among all and on this host, all of one launcher: a batch script has Slurm's
// SLURM_LOCALID, too, whoever starts ranks in it.
parser::Result<std::optional<ProcessPlace>> counted_place(const Environment& environment,
                                                          bool by_slurm) {
  const auto rank =
      by_slurm ? number(environment, {"SLURM_PROCID", "RANK"}) : number(environment, {"RANK"});
  const auto size =
      by_slurm ? number(environment, {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "WORLD_SIZE"})
               : number(environment, {"WORLD_SIZE"});
  const auto local = by_slurm ? number(environment, {"SLURM_LOCALID", "LOCAL_RANK"})
                              : number(environment, {"LOCAL_RANK"});
  const auto local_size = number(environment, {"LOCAL_WORLD_SIZE"});
  const auto node = number(environment, {"SLURM_NODEID"});
  for (const auto* value : {&rank, &size, &local, &local_size, &node}) {
    if (!*value) return parser::fail(value->error().message);
  }
  if (!rank->has_value() && !size->has_value()) return std::nullopt;
  ProcessPlace place;
  place.rank = rank->value_or(0);
  place.size = size->value_or(1);
  place.local_rank = local->value_or(0);
  place.local_size = local_size->value_or(place.size);
  if (by_slurm) {
    place.local_size =
        tasks_on_node(value_of(environment, "SLURM_STEP_TASKS_PER_NODE"), node->value_or(0))
            .value_or(place.local_size);
  }
  if (place.rank >= place.size) {
    return parser::fail(
        fmt::format("the launcher says that this is rank {} of {}", place.rank, place.size));
  }
  return place;
}

}  // namespace

std::string first_host(std::string_view node_list) {
  const std::size_t end = node_list.find_first_of(",[");
  std::string host(node_list.substr(0, end));
  if (end == std::string_view::npos || node_list[end] == ',') return host;
  const std::string_view numbers = node_list.substr(end + 1);
  host += numbers.substr(0, numbers.find_first_of("-,]"));
  // "rack1-[02-03]-ib": what follows the bracket belongs to every name.
  const std::size_t close = numbers.find(']');
  if (close == std::string_view::npos) return host;
  const std::string_view rest = numbers.substr(close + 1);
  if (rest.empty() || rest[0] == ',') return host;
  return host + first_host(rest);
}

std::optional<int> tasks_on_node(std::string_view tasks_per_node, int node) {
  while (!tasks_per_node.empty()) {
    const std::size_t comma = tasks_per_node.find(',');
    const std::string_view entry = tasks_per_node.substr(0, comma);
    tasks_per_node.remove_prefix(comma == std::string_view::npos ? entry.size() : comma + 1);
    const std::size_t times = entry.find("(x");
    const auto tasks = whole_number(entry.substr(0, times));
    std::optional<int> nodes = 1;
    if (times != std::string_view::npos) {
      if (!entry.ends_with(')')) return std::nullopt;
      nodes = whole_number(entry.substr(times + 2, entry.size() - times - 3));
    }
    if (!tasks || !nodes) return std::nullopt;
    if (node < *nodes) return tasks;
    node -= *nodes;
  }
  return std::nullopt;
}

parser::Result<std::optional<ProcessPlace>> place_from_environment(const Environment& environment) {
  const auto step = number<std::uint32_t>(environment, {"SLURM_STEP_ID", "SLURM_STEPID"});
  if (!step) return parser::fail(step.error().message);
  // A batch script has SLURM_PROCID too, but it is no step with tasks.
  const bool is_step = step->has_value() && **step < kFirstSpecialStep;
  const bool by_slurm = is_step && !is_by_torchrun(environment);
  auto counted = counted_place(environment, by_slurm);
  if (!counted) return parser::fail(counted.error().message);
  if (!*counted) return std::nullopt;
  ProcessPlace place = std::move(**counted);
  const auto port = number(environment, {"MASTER_PORT"});
  const auto job = number(environment, {"SLURM_JOB_ID"});
  const auto wait = number(environment, {"LLMB_RENDEZVOUS_WAIT_S"});
  for (const auto* value : {&port, &job, &wait}) {
    if (!*value) return parser::fail(value->error().message);
  }
  place.master_host = value_of(environment, "MASTER_ADDR");
  if (place.master_host.empty()) {
    std::string_view nodes = value_of(environment, "SLURM_STEP_NODELIST");
    if (nodes.empty()) nodes = value_of(environment, "SLURM_JOB_NODELIST");
    place.master_host = first_host(nodes);
  }
  if (by_slurm) place.launch_host = value_of(environment, "SLURM_LAUNCH_NODE_IPADDR");
  if (!port->has_value()) {
    place.master_port = derived_port(value_of(environment, "SLURM_CLUSTER_NAME"), job->value_or(0),
                                     step->value_or(0));
  } else if (value_of(environment, "TORCHELASTIC_USE_AGENT_STORE") == "True") {
    // torchrun itself listens there. Not the next port, where its next job's may.
    place.master_port = derived_port(value_of(environment, "TORCHELASTIC_RUN_ID"), **port, 0);
  } else {
    place.master_port = **port;
  }
  auto key = RendezvousKey::parse(value_of(environment, "LLMB_RENDEZVOUS_KEY"));
  if (!key) return parser::fail("LLMB_RENDEZVOUS_KEY cannot be read: " + key.error().message);
  place.key = *key;
  if (*wait) place.rendezvous_wait = std::chrono::seconds(**wait);
  if (place.size > 1 && place.master_host.empty()) {
    return parser::fail(fmt::format(
        "of {} ranks none knows where rank 0 is: set MASTER_ADDR and MASTER_PORT", place.size));
  }
  return place;
}

Environment launcher_environment() {
  Environment environment;
  for (const char* name : kVariables) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread
    if (value != nullptr) environment.emplace(name, value);
  }
  return environment;
}

}  // namespace llmb::runner
