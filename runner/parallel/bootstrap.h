// Bootstrap: which rank this process is, of how many, and where rank 0 waits for the others, as
// the launcher says it. Pure: the environment comes in as a map.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "parser/result.h"
#include "runner/parallel/rendezvous_key.h"

namespace llmb::runner {

struct ProcessPlace {
  int rank = 0;
  int size = 1;
  int local_rank = 0;       // among the ranks of this host
  std::string master_host;  // of rank 0
  int master_port = 0;
  // Where srun was called: the first node, where a batch script calls it. For clusters whose node
  // names only Slurm knows. May be empty.
  std::string launch_host = {};
  int local_size = 1;  // ranks of this host; `size` where no launcher says it
  RendezvousKey key = {};
  // How long the ranks may take to find each other, where who starts them knows.
  std::optional<std::chrono::seconds> rendezvous_wait = {};
};

// From srun's variables (SLURM_PROCID, SLURM_STEP_NUM_TASKS or SLURM_NTASKS, SLURM_LOCALID,
// SLURM_STEP_NODELIST, SLURM_STEP_TASKS_PER_NODE), or a torchrun-like launcher's (RANK, WORLD_SIZE,
// LOCAL_RANK, LOCAL_WORLD_SIZE). In a step of Slurm's its own count, except where torchrun says
// that it is the launcher (TORCHELASTIC_RUN_ID). MASTER_ADDR and MASTER_PORT outrank what is
// derived from the node list and from cluster, job and step; where torchrun listens at MASTER_PORT
// (TORCHELASTIC_USE_AGENT_STORE=True), another port is derived from it. LLMB_RENDEZVOUS_KEY is the
// job's secret, and LLMB_RENDEZVOUS_WAIT_S says how long ranks may take to come. Nothing where no
// launcher started this process, which includes Slurm's batch script itself; an error where its
// words contradict.
parser::Result<std::optional<ProcessPlace>> place_from_environment(
    const std::map<std::string, std::string, std::less<>>& environment);

// The variables above that this process has.
std::map<std::string, std::string, std::less<>> launcher_environment();

// Of "4(x2),3", the tasks on node 0, 1 or 2; nothing where the list does not say it.
std::optional<int> tasks_on_node(std::string_view tasks_per_node, int node);

// "gpu[03-05,9],login" -> "gpu03". Slurm puts rank 0 on the first node of a step.
std::string first_host(std::string_view node_list);

}  // namespace llmb::runner
