#include "server/dispatch/slurm_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "parser/foundation/text.h"
#include "server/dispatch/text_check.h"

namespace llmb::dispatch {
namespace {

constexpr std::size_t kValueBytesMax = 4096;
constexpr std::string_view kOfTheShell = " of the shell";

enum class Form { value, flag, either };
struct Option {
  std::string_view name;
  Form form = Form::value;
};

constexpr std::array kOptions = std::to_array<Option>({
    {"account"},
    {"begin"},
    {"constraint"},
    {"contiguous", Form::flag},
    {"core-spec"},
    {"cpu-freq"},
    {"cpus-per-gpu"},
    {"cpus-per-task"},
    {"deadline"},
    {"dependency"},
    {"distribution"},
    {"exclude"},
    {"exclusive", Form::either},
    {"gpu-bind"},
    {"gpu-freq"},
    {"gpus-per-node"},
    {"gres"},
    {"hint"},
    {"hold", Form::flag},
    {"licenses"},
    {"mail-type"},
    {"mail-user"},
    {"mem"},
    {"mem-per-cpu"},
    {"mem-per-gpu"},
    {"mincpus"},
    {"network"},
    {"nice", Form::either},
    {"no-requeue", Form::flag},
    {"nodelist"},
    {"partition"},
    {"priority"},
    {"qos"},
    {"requeue", Form::flag},
    {"reservation"},
    {"segment"},
    {"signal"},
    {"sockets-per-node"},
    {"spread-job", Form::flag},
    {"switches"},
    {"threads-per-core"},
    {"time"},
    {"time-min"},
    {"tmp"},
    {"use-min-nodes", Form::flag},
    {"wckey"},
});

// What the dispatcher sets, with the reason that it gives.
constexpr std::array kOwnOptions = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"nodes", "it follows from the scale and the GPUs per node"},
    {"ntasks", "it is the scale"},
    {"ntasks-per-node", "it follows from the scale and the GPUs per node"},
    {"job-name", "it is made of account and experiment"},
    {"output", "the run's folder has its documented layout"},
    {"error", "the run's folder has its documented layout"},
    {"chdir", "the run's folder has its documented layout"},
    {"comment", "it holds the mark by which a submission is found again"},
    {"export", "only what is asked for with --env reaches the job"},
});

const Option* find_option(std::string_view name) {
  const auto found = std::find_if(kOptions.begin(), kOptions.end(),
                                  [&](const Option& option) { return option.name == name; });
  return found == kOptions.end() ? nullptr : &*found;
}

std::string allowed_names() {
  std::string names;
  for (const Option& option : kOptions) {
    names.append(names.empty() ? "" : ", ").append(option.name);
  }
  return names;
}

parser::Result<void> refuse_name(std::string_view name, std::string_view where) {
  std::string message = in_quotes(where) + ": ";
  for (const auto& [own, reason] : kOwnOptions) {
    if (own != name) continue;
    message.append("'").append(own).append("' cannot be set: ").append(reason);
    return parser::fail(std::move(message));
  }
  return parser::fail(message + in_quotes(name) +
                      " is no Slurm option that may be set; these may: " + allowed_names());
}

std::string normal_name(std::string_view name) {
  std::string normal(name);
  std::replace(normal.begin(), normal.end(), '_', '-');
  return normal;
}

bool is_sbatch_option(std::string_view name) {
  return find_option(name) != nullptr ||
         std::any_of(kOwnOptions.begin(), kOwnOptions.end(),
                     [&](const auto& own) { return own.first == name; });
}

// "reservation" of "gpu,reservation=x": an option of sbatch that a comma or a space begins inside a
// value, which is no separator of parameters. Empty where there is none.
std::string parameter_inside(std::string_view value) {
  for (std::size_t at = value.find('='); at != std::string_view::npos;
       at = value.find('=', at + 1)) {
    const std::string_view before = trimmed(value.substr(0, at));
    const std::size_t separator = before.find_last_of(", ");
    if (separator == std::string_view::npos) continue;
    std::string name = normal_name(before.substr(separator + 1));
    if (is_sbatch_option(name)) return name;
  }
  return {};
}

std::set<std::string, std::less<>> items(std::string_view list) {
  std::set<std::string, std::less<>> result;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (comma > 0) result.emplace(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return result;
}

constexpr auto kAlternatives = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"gres", "gpus-per-node"},
    {"requeue", "no-requeue"},
    {"mem", "mem-per-cpu"},
    {"mem", "mem-per-gpu"},
    {"mem-per-cpu", "mem-per-gpu"},
    {"cpus-per-task", "cpus-per-gpu"},
});

bool are_alternatives(std::string_view a, std::string_view b) {
  return std::any_of(kAlternatives.begin(), kAlternatives.end(), [&](const auto& pair) {
    return pair == std::pair(a, b) || pair == std::pair(b, a);
  });
}

// As Slurm reads them: MIN, MIN:S, H:MIN:S, D-H, D-H:MIN and D-H:MIN:S, or none.
bool is_time_limit(std::string_view text) {
  for (const std::string_view none : {"unlimited", "infinite", "-1"}) {
    if (parser::equal_but_for_case(text, none)) return true;
  }
  const auto is_number = [](std::string_view part) {
    return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (const std::size_t days = text.find('-'); days != std::string_view::npos) {
    if (!is_number(text.substr(0, days))) return false;
    text.remove_prefix(days + 1);
  }
  for (int parts = 1; parts <= 3; ++parts) {
    const std::size_t end = text.find(':');
    if (!is_number(text.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
  }
  return false;
}

}  // namespace

parser::Result<void> add_slurm_parameter(SlurmParameters& parameters, std::string_view name,
                                         std::string_view value, std::string_view where) {
  const std::string normal = normal_name(name);
  const Option* const option = find_option(normal);
  if (option == nullptr) return refuse_name(normal, where);
  if (option->form == Form::value && value.empty()) {
    return parser::fail("'" + normal + "' needs a value: " + normal + "=…");
  }
  if (option->form == Form::flag && !value.empty()) {
    return parser::fail("'" + normal + "' takes no value");
  }
  if (value.size() > kValueBytesMax || !is_printable(value)) {
    return parser::fail(
        fmt::format("the value of '{}' is not what Slurm could take: printable characters without "
                    "spaces at the ends, at most {}; it begins {}",
                    normal, kValueBytesMax, in_quotes(value)));
  }
  // ADDITIONAL_SLURM_PARAMS, by which a recipe's launch.sh gets them, is separated by it.
  if (value.find(';') != std::string_view::npos) {
    return parser::fail(
        fmt::format("the value {} of '{}' holds a semicolon, which begins another parameter: give "
                    "each by itself",
                    in_quotes(value), normal));
  }
  if (const std::string inside = parameter_inside(value); !inside.empty()) {
    return parser::fail(fmt::format(
        "the value {} of '{}' holds '{}=', which is another parameter: give each by itself, and in "
        "ADDITIONAL_SLURM_PARAMS with a semicolon between them",
        in_quotes(value), normal, inside));
  }
  // sbatch would read the file and print of it.
  if ((normal == "nodelist" || normal == "exclude") && value.find('/') != std::string_view::npos) {
    return parser::fail(
        fmt::format("'{}' takes names of nodes, not the file {}", normal, in_quotes(value)));
  }
  if ((normal == "time" || normal == "time-min") && !is_time_limit(value)) {
    return parser::fail(fmt::format(
        "{} is no time of Slurm's: '{}' takes minutes, hours:minutes:seconds, days-hours, or "
        "UNLIMITED",
        in_quotes(value), normal));
  }
  const auto [entry, is_new] = parameters.emplace(normal, value);
  if (!is_new && entry->second != value) {
    return parser::fail("'" + normal + "' is given twice, as " + in_quotes(entry->second) +
                        " and as " + in_quotes(value) + ": decide for one");
  }
  return {};
}

parser::Result<void> add_slurm_argument(SlurmParameters& parameters, std::string_view argument,
                                        std::string_view where) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string_view::npos) {
    return add_slurm_parameter(parameters, argument, "", where);
  }
  return add_slurm_parameter(parameters, argument.substr(0, equals), argument.substr(equals + 1),
                             where);
}

parser::Result<void> add_additional_slurm_params(SlurmParameters& parameters,
                                                 std::string_view text) {
  while (!text.empty()) {
    const std::size_t semicolon = std::min(text.find(';'), text.size());
    const std::string_view part = trimmed(text.substr(0, semicolon));
    if (!part.empty()) {
      if (auto added = add_slurm_argument(parameters, part, "ADDITIONAL_SLURM_PARAMS"); !added) {
        return added;
      }
    }
    text.remove_prefix(std::min(semicolon + 1, text.size()));
  }
  return {};
}

parser::Result<SlurmOfShell> slurm_parameters_of(const Environment& environment) {
  constexpr auto kVariables = std::to_array<std::pair<std::string_view, std::string_view>>({
      {"SBATCH_ACCOUNT", "account"},
      {"SBATCH_PARTITION", "partition"},
      {"SBATCH_GPUS_PER_NODE", "gpus-per-node"},
      {"SBATCH_TIMELIMIT", "time"},
      {"SBATCH_RESERVATION", "reservation"},
      {"SBATCH_QOS", "qos"},
      {"SBATCH_CONSTRAINT", "constraint"},
      {"SLURM_ACCOUNT", "account"},
      {"SLURM_PARTITION", "partition"},
      {"SLURM_GPUS_PER_NODE", "gpus-per-node"},
  });
  SlurmOfShell found;
  for (const auto& [variable, name] : kVariables) {
    const auto value = environment.find(variable);
    if (value == environment.end() || value->second.empty() || value->second == "null") continue;
    auto added = add_slurm_parameter(found.parameters, name, value->second, variable);
    if (!added) {
      return parser::fail(std::string(variable) + " in the environment: " + added.error().message);
    }
    found.origins.emplace(name, std::string(variable) + std::string(kOfTheShell));
  }
  const auto additional = environment.find("ADDITIONAL_SLURM_PARAMS");
  if (additional == environment.end()) return found;
  // A parameter outranks the variable of the same meaning, as it does for sbatch.
  SlurmParameters explicit_ones;
  if (auto added = add_additional_slurm_params(explicit_ones, additional->second); !added) {
    return tl::unexpected(added.error());
  }
  const std::string origin = "ADDITIONAL_SLURM_PARAMS" + std::string(kOfTheShell);
  found.set_aside_notes = set_aside_options(found.parameters, found.origins, explicit_ones, origin);
  for (const auto& [name, unused] : explicit_ones) found.origins[name] = origin;
  fill_missing(explicit_ones, found.parameters);
  found.parameters = std::move(explicit_ones);
  return found;
}

namespace {

// A variable of several options says which of them gives way.
std::string described(const std::string& name, const std::string& source) {
  return source.starts_with("ADDITIONAL_SLURM_PARAMS") ? fmt::format("{} of {}", name, source)
                                                       : source;
}

}  // namespace

std::vector<std::string> set_aside_options(const SlurmParameters& given, const Origins& origins,
                                           const SlurmParameters& chosen, std::string_view origin) {
  std::vector<std::string> notes;
  for (const auto& [name, value] : given) {
    const auto source = origins.find(name);
    if (source == origins.end() || !source->second.ends_with(kOfTheShell)) continue;
    const auto counts =
        std::find_if(chosen.begin(), chosen.end(), [&name = name](const auto& entry) {
          return entry.first == name || are_alternatives(entry.first, name);
        });
    if (counts == chosen.end() || (counts->first == name && counts->second == value)) continue;
    notes.push_back(
        set_aside_note(described(name, source->second), value.empty() ? "true" : value,
                       {"slurm " + counts->first, counts->second.empty() ? "true" : counts->second,
                        std::string(origin)}));
  }
  return notes;
}

parser::Result<void> refuse_contradictions(const SlurmParameters& parameters) {
  for (const auto& [one, other] : kAlternatives) {
    if (parameters.contains(one) && parameters.contains(other)) {
      return parser::fail("'" + std::string(one) + "' and '" + std::string(other) +
                          "' contradict each other: give one of them");
    }
  }
  const auto listed = parameters.find("nodelist");
  const auto excluded = parameters.find("exclude");
  if (listed == parameters.end() || excluded == parameters.end()) return {};
  const auto nodes = items(listed->second);
  for (const std::string& node : items(excluded->second)) {
    if (nodes.contains(node)) {
      return parser::fail("node " + in_quotes(node) + " is both in nodelist and in exclude");
    }
  }
  return {};
}

void fill_missing(SlurmParameters& parameters, const SlurmParameters& fallback) {
  const SlurmParameters given = parameters;
  for (const auto& [name, value] : fallback) {
    const bool has_alternative = std::any_of(
        given.begin(), given.end(),
        [&name = name](const auto& entry) { return are_alternatives(entry.first, name); });
    if (!has_alternative) parameters.emplace(name, value);
  }
}

std::vector<std::string> sbatch_options(const SlurmParameters& parameters) {
  std::vector<std::string> options;
  for (const auto& [name, value] : parameters) {
    options.push_back("--" + name + (value.empty() ? "" : "=" + value));
  }
  return options;
}

}  // namespace llmb::dispatch
