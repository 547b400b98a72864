#include "server/cli/job_table.h"

#include <fmt/format.h>

#include <ostream>

#include "server/report/text_table.h"

namespace llmb::cli {

std::string slurm_id(const storage::JobRecord& job) {
  return job.job_id ? fmt::to_string(*job.job_id) : "-";
}

dispatch::Submission submission_of(const storage::JobRecord& job) {
  auto submissions = dispatch::parse_submissions(job.submission);
  return submissions && !submissions->empty() ? submissions->front() : dispatch::Submission{};
}

void write_job_table(const std::vector<storage::JobRecord>& jobs, std::ostream& out) {
  report::TextTable table({">ID", ">SLURM", "STATE", ">GPUS", "SUBMITTED", "BY", "EXPERIMENT"});
  for (const storage::JobRecord& job : jobs) {
    std::string state(storage::job_state_name(job.state));
    if (!job.state_reason.empty()) state += " (" + job.state_reason + ")";
    if (job.restart_count > 0) state += fmt::format(", restart {}", job.restart_count);
    table.add({fmt::to_string(job.id), slurm_id(job), state,
               fmt::to_string(submission_of(job).scale), job.created_at.substr(0, 19) + "Z",
               job.submitted_by, job.experiment});
  }
  table.print(out);
  for (const storage::JobRecord& job : jobs) {
    if (!job.trouble.empty()) {
      out << "job " << job.id << ": " << report::printable(job.trouble) << '\n';
    }
  }
}

}  // namespace llmb::cli
