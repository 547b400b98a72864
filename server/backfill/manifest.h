// The manifest of a back-fill: what is read, where it goes, and which task has which part of it. It
// is made once; every task, on whatever node, goes by it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parser/result.h"
#include "server/backfill/cut.h"
#include "server/ingest/ingest_options.h"

namespace llmb::backfill {

// Raised where an older program would read something else out of it.
inline constexpr std::int64_t kManifestFormat = 2;

struct Manifest {
  std::string id;      // a submission's (dispatch/submission_mark.h): the comment of its array jobs
  std::string server;  // URL
  std::string cluster;
  std::string token_file;  // absolute, as all paths here; never the token itself
  std::string ca_file;     // empty: those that the system trusts
  std::string catalog_file;
  std::string database_folder;
  bool allow_network_file_system = false;
  bool sends_text = false;        // of the logs, too
  bool skips_unreadable = false;  // a task is done though logs of it cannot be read
  std::vector<std::string> roots;
  std::vector<Share> tasks;  // numbered from 1
  bool operator==(const Manifest&) const = default;

  Measure measure() const;
};

std::string manifest_text(const Manifest& manifest);
// Fails where it is cut off, of another format, names a folder outside of its roots, or has a
// folder in two places.
parser::Result<Manifest> read_manifest(std::string_view text);

// The roots of a task (from 1), each with the parts that it reads of it.
std::vector<ingest::RootOptions> roots_of_task(const Manifest& manifest, std::int64_t task);

}  // namespace llmb::backfill
