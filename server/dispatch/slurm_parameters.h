// SlurmParameters: options of sbatch that a user may set, by their long names, from flags, from
// ADDITIONAL_SLURM_PARAMS and from SBATCH_* variables. What is not on the list is refused: the rest
// belongs to the dispatcher, or would run or write something of its own.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "parser/result.h"
#include "server/dispatch/value_origin.h"

namespace llmb::dispatch {

// Name without dashes -> value; a bare flag has an empty one.
using SlurmParameters = std::map<std::string, std::string, std::less<>>;

// Underscores in the name count as dashes. Refuses unknown names, values with control characters or
// with another parameter in them ("gpu,reservation=x"), and a name that is there already with
// another value. `where` names the source in the message.
parser::Result<void> add_slurm_parameter(SlurmParameters& parameters, std::string_view name,
                                         std::string_view value, std::string_view where);

// "key=value" or a bare flag.
parser::Result<void> add_slurm_argument(SlurmParameters& parameters, std::string_view argument,
                                        std::string_view where);

// As the recipes have it: "nodelist=node001,node002;constraint=gpu&memory;exclusive". Only
// semicolons separate.
parser::Result<void> add_additional_slurm_params(SlurmParameters& parameters,
                                                 std::string_view text);

using Environment = std::map<std::string, std::string, std::less<>>;

struct SlurmOfShell {
  SlurmParameters parameters;
  Origins origins;                           // "SBATCH_PARTITION of the shell"
  std::vector<std::string> set_aside_notes;  // of what ADDITIONAL_SLURM_PARAMS outranks
};

// SBATCH_ACCOUNT, SBATCH_PARTITION, SBATCH_GPUS_PER_NODE …, the older SLURM_ACCOUNT,
// SLURM_PARTITION, SLURM_GPUS_PER_NODE ("null" means none), and ADDITIONAL_SLURM_PARAMS.
parser::Result<SlurmOfShell> slurm_parameters_of(const Environment& environment);

// Sentences on what `given`, by its origins of a shell, says otherwise than `chosen`. `origin`: of
// what was chosen.
std::vector<std::string> set_aside_options(const SlurmParameters& given, const Origins& origins,
                                           const SlurmParameters& chosen, std::string_view origin);

// Two that cannot both be meant: a node both listed and excluded, requeue and no-requeue, …
parser::Result<void> refuse_contradictions(const SlurmParameters& parameters);

// Adds what `fallback` has and `parameters` does not, nor an alternative of it (gres and
// gpus-per-node stand for one another).
void fill_missing(SlurmParameters& parameters, const SlurmParameters& fallback);

// One word for each: "--nodelist=node001,node002", "--exclusive".
std::vector<std::string> sbatch_options(const SlurmParameters& parameters);

}  // namespace llmb::dispatch
