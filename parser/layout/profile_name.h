// What the name of an Nsight Systems profile says of the process that was profiled. The recipes
// write them to nsys_profile/ beside the log:
//   profile_<job>_<node>_<local rank>.nsys-rep       most recipes
//   <model>-<size>-<dtype>_<gpus>g_<job>_<node>_<local rank>.nsys-rep       Grok-1
//   profile_<process id>.nsys-rep                    nemo-run's default
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace llmb::parser {

inline constexpr std::string_view kProfileFolder = "nsys_profile";

struct ProfileName {
  std::optional<std::int64_t> job_id;
  std::optional<std::int64_t> node;  // SLURM_NODEID: from 0, within the job
  std::optional<std::int64_t> local_rank;
  std::optional<std::int64_t> process_id;

  bool operator==(const ProfileName&) const = default;
};

// Nothing where the file is no profile; one without values where its name says nothing.
std::optional<ProfileName> parse_profile_name(std::string_view file_name);

}  // namespace llmb::parser
