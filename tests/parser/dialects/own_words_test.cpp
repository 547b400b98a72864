// Failures that programs tell in words of their own, by what standards name in them: errors of the
// system, signals, HTTP, NCCL, drivers.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "parser/reader/log_reader.h"

namespace llmb::parser {
namespace {

std::string cause_of(std::string_view line) {
  const ParsedLog log = parse_log(std::string(line) + "\n");
  return log.facts.events.empty() ? "none" : log.facts.events.front().cause;
}

TEST(OwnWords, TellACauseByWhatStandardsName) {
  const std::pair<const char*, const char*> kLines[] = {
      {"20: NET/OFI Request 0x4002 completed with error. RC: 5. Error: 5 (Input/output error).",
       "nccl_system_error"},
      {"*** SIGSEGV received at time=1753371688 on cpu 41 ***", "segmentation_fault"},
      {"r02 ! init 'world': ncclInvalidUsage (5): Duplicate GPU detected : rank 2 and rank 3 both "
       "on "
       "CUDA device 1b000",
       "nccl_error"},
      {"preflight: nvml says: Driver/library version mismatch (kernel 535.183.01, user 550.54.15)",
       "gpu_unavailable"},
      {"lvl=fatal msg=\"gradient norm inf for 4 updates running (limit 4), giving up\"",
       "nan_gradient"},
      {"gradient norm inf, step skipped", "none"},
      {"pull given up: x/tokenizer.json: upstream says 429 Too Many Requests (7 of 7)",
       "hf_unreachable"},
      {"429 Too Many Requests, trying again in 8 s", "none"},
      {"wandb: 429 Too Many Requests, gave up uploading metrics; training continues", "none"},
      {"pread(fd) -> EIO retry 1/5", "none"},
      {"old replica exited on SIGKILL after drain", "none"},
      {"preflight: no Driver/library version mismatch", "none"},
      {"osprey.io.Lost: pwrite(fd=31, 16777216, 9193914368) -> EIO on /mnt/k/7650/r5.bin",
       "file_system_error"},
      {"worker 7 (pid 7714 on n4) left on SIGKILL, nobody here sent it", "task_killed"},
      {"UNAVAILABLE: The following tasks are unhealthy (stopped sending heartbeats):",
       "peer_lost"}};
  for (const auto& [line, cause] : kLines) EXPECT_EQ(cause_of(line), cause) << line;
}

}  // namespace
}  // namespace llmb::parser
