// Certification: goes on submitting until each configuration has so many valid results. What there
// is already counts, jobs that are under way too, so that the same command goes on where it was
// stopped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/cli/job_desk.h"
#include "server/dispatch/dispatcher.h"
#include "server/dispatch/job_sender.h"

namespace llmb::cli {

struct CertificationWishes {
  std::int64_t results = 1;  // of each configuration: jobs that completed with a complete run
  // Jobs that this call may submit of each configuration. What Slurm refuses while jobs are under
  // way does not count.
  std::int64_t attempts = 2;
  std::int64_t at_once = 1;  // jobs of all configurations that have not ended
};

// Each of `submissions` is a configuration; equal ones are one. Shows on stderr what becomes of the
// jobs, and at the end what there is of each configuration on stdout. The exit code: 0 when all
// have what was asked for, 1 when the attempts are used up or Slurm's commands are not here, 2
// where a submission is refused as it stands, 128 and the signal's number where one came; jobs go
// on then.
int certify(JobDesk& desk, dispatch::Dispatcher& dispatcher, dispatch::JobSender& sender,
            const std::vector<dispatch::Submission>& submissions, const std::string& user,
            const CertificationWishes& wishes);

}  // namespace llmb::cli
