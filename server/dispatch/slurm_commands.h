// Slurm's own commands, started by argv in an environment of their own, and what their answers
// mean. Every refusal says what Slurm said, and what to do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parser/result.h"
#include "server/dispatch/cluster_settings.h"
#include "server/dispatch/command_run.h"
#include "server/dispatch/queue_snapshot.h"

namespace llmb::dispatch {

// Why something was not done.
struct Refusal {
  enum class Kind {
    invalid,      // the request itself is wrong
    conflict,     // it contradicts an earlier one
    not_found,    // there is no such job
    too_many,     // more than whoever asks may ask for just now
    refused,      // Slurm refused it: partition, quota …
    unavailable,  // Slurm, or the disk, did not do its part; the same may work later
  };
  Kind kind = Kind::invalid;
  std::string message;
};

struct SbatchAnswer {
  enum class Kind {
    submitted,
    refused,
    unavailable,  // nothing was submitted
    unknown,      // it may have been submitted: no answer in time, or none that is understood
  };
  Kind kind = Kind::unknown;
  std::int64_t job_id = 0;  // of `submitted`
  std::string message;      // of the others
};

// Thread-safe. Every call waits for its command's end, up to the settings' deadline.
class SlurmCommands {
 public:
  // `settings` outlives this.
  explicit SlurmCommands(const ClusterSettings& settings) : settings_(settings) {}

  // `secrets`: variables that reach the job by sbatch's environment.
  SbatchAnswer sbatch(const std::vector<std::string>& arguments,
                      const Environment& secrets = {}) const;
  // All jobs of the cluster. An error means that nothing is known.
  parser::Result<std::vector<ObservedJob>> squeue() const;
  // The tasks of this user's array jobs with that comment which have not ended. An error means that
  // nothing is known.
  parser::Result<std::vector<ArrayTask>> array_tasks(const std::string& comment) const;
  // What accounting has of these ids. An error means that nothing is known.
  parser::Result<std::vector<ObservedJob>> sacct(const std::vector<std::int64_t>& job_ids) const;
  // The job of this user that was to run in `folder`, submitted at `since_s` or later, as
  // accounting has it; nothing where it has none.
  parser::Result<std::optional<std::int64_t>> find_by_folder(const std::string& folder,
                                                             std::int64_t since_s) const;
  // Succeeds too where there is no such job any more.
  parser::Result<void> scancel(std::int64_t job_id) const;
  // How many nodes a partition has; nothing where Slurm does not say.
  std::optional<std::int64_t> partition_nodes(const std::string& partition) const;

  // "NAME=value": all that the commands get to see.
  std::vector<std::string> environment() const;

 private:
  CommandResult run(std::vector<std::string> arguments, const Environment& secrets = {}) const;
  CommandResult start(const std::string& program, std::vector<std::string> arguments,
                      const Environment& secrets) const;

  const ClusterSettings& settings_;
};

// What sbatch wrote on stderr, in words with an advice. Pure.
SbatchAnswer explain_sbatch(const CommandResult& result);
// The same of a launch.sh that failed: what sbatch said stands among what it printed.
SbatchAnswer explain_launch(const CommandResult& result);
// For a command that did not answer as it should: "squeue: …".
std::string explain_failure(std::string_view command, const CommandResult& result);

}  // namespace llmb::dispatch
