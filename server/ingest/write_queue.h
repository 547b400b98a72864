// What readers and discovery hand to the writer: a log's rows, or a note about a file or a root.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "server/ingest/bounded_queue.h"
#include "server/ingest/outcome_mailbox.h"
#include "server/ingest/read_job.h"
#include "storage/database.h"

namespace llmb::ingest {

// One log's. With neither batch nor configuration the outcome is final as it is.
struct WorkResult {
  FileOutcome outcome;
  std::optional<storage::IngestBatch> batch;
  std::optional<parser::RunConfiguration> configuration;  // a llmb-config came later
  std::optional<storage::ListedResult> listed;            // what follows from that
  std::shared_ptr<OutcomeMailbox> reply_to;               // of the discovery that gave the job
};

struct ScanRecord {
  storage::RootId root = 0;
  std::string scanned_at;
  double scan_s = 0;
  std::int64_t files_seen = 0;
  std::string error;
};
struct VanishedFile {
  storage::RootId root = 0;
  std::string relative_path;
  std::string at;
};
// It was reported as vanished, and is there again as it was.
struct ReturnedFile {
  storage::RootId root = 0;
  std::string relative_path;
};
struct UnparkedFile {
  storage::RootId root = 0;
  std::string relative_path;
};

// What others have to write through the one writer; see Ingest::write(). It throws nothing.
using WriterTask = std::function<void(storage::Writer&)>;

using WriteItem = std::variant<WorkResult, ScanRecord, VanishedFile, ReturnedFile,
                               storage::ParkedFile, UnparkedFile, WriterTask>;
using WriteQueue = BoundedQueue<WriteItem>;

}  // namespace llmb::ingest
