// PollerTest: a poller of a Slurm that stands in, with a job that was submitted to it.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "server/dispatch/poller.h"
#include "tests/server/dispatch/slurm_stand_in.h"

namespace llmb::dispatch {

class PollerTest : public testing::Test {
 protected:
  storage::JobRecord submitted() {
    return slurm_.submit({{small_submission()}, "somebody", "", false, {}}).jobs.front();
  }
  storage::JobRecord now(const storage::JobRecord& job) { return *slurm_.store->job(job.id); }
  // The job as squeue of 22.05 writes it, `more` included.
  static std::string queued(const storage::JobRecord& job, const std::string& state,
                            const std::string& more = "") {
    return R"({"job_id":41,"submit_time":1000,"job_state":")" + state + R"(","comment":")" +
           job.submission_id + "\"" + more + "}";
  }
  void poll_at(std::chrono::seconds later) { poller_.poll_once(wall_now() + later); }
  // Seen running, then gone from the queue.
  storage::JobRecord gone() {
    const storage::JobRecord job = submitted();
    slurm_.queue_holds(queued(job, "RUNNING"));
    poller_.poll_once();
    slurm_.queue_holds("");
    return now(job);
  }

  SlurmStandIn slurm_;
  std::vector<std::string> changes_;
  Poller poller_{slurm_.settings, *slurm_.store, [this](const storage::JobRecord& job) {
                   changes_.emplace_back(job_state_name(job.state));
                 }};
};

}  // namespace llmb::dispatch
