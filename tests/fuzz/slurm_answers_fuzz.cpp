// libFuzzer target: what squeue, sacct and a batch script's output say. Any bytes are no
// information, or jobs that have an id.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "server/dispatch/batch_output.h"
#include "server/dispatch/queue_snapshot.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace llmb::dispatch;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto jobs = parse_queue(bytes)) {
    for (const ObservedJob& job : *jobs) {
      if (job.job_id <= 0) std::abort();
    }
  }
  const auto records = parse_accounting(bytes);
  for (const ObservedJob& job : records) {
    if (job.job_id <= 0) std::abort();
  }
  find_accounted(records, 7, 1);
  batch_output_evidence(bytes, 7);
  return 0;
}
