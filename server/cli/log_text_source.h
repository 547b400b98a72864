// Where an agent has the text of logs from: the logs themselves.
#pragma once

#include "server/push/push_options.h"

namespace llmb::cli {

// Opens as ingest does: no link is followed, and a file system that hangs is not waited for. Fails
// where the log no longer holds what was read of it.
push::ReadLogText log_text_source();

}  // namespace llmb::cli
