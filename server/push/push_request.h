// The body of POST /api/v1/push: who tells, and the logs that are told, one behind the other. zstd
// on its way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/packed_values.h"
#include "storage/push_records.h"

namespace llmb::push {

inline constexpr const char* kContentType = "application/vnd.llmb-report.push";
// A header of every request: the sender's store, which is known by it before the body is read.
inline constexpr const char* kStoreHeader = "llmb-store";

// A body in a form that this program does not know.
class ForeignForm : public storage::BadField {
 public:
  ForeignForm();
};

struct PushHead {
  std::string cluster;
  std::string store_id;
  std::string agent = {};  // the name of its machine
  std::string version = {};
  std::int64_t logs_pending = 0;
  std::string pending_since = {};  // RFC 3339 UTC; empty: nothing is pending
  std::string sent_at = {};        // RFC 3339 UTC, by the agent's clock
  bool is_last = false;            // this store has said all, and never speaks again
};

// As the form of each request begins, behind its name. The second throws BadField.
void pack_head(storage::PackWriter& writer, const PushHead& head);
PushHead unpack_head(storage::PackReader& reader);

// The rest of a request: at most `max` entries, each as `read_one` reads it, and no byte behind
// them. What that throws as BadField is told with the entry's number.
template <typename ReadOne>
auto unpack_entries(storage::PackReader& reader, const char* name, std::size_t max,
                    const ReadOne& read_one) {
  std::vector<decltype(read_one(reader))> entries;
  const std::size_t count = reader.length(name);
  if (count > max) storage::refuse_field(name, "at most " + std::to_string(max));
  entries.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    try {
      entries.push_back(read_one(reader));
    } catch (const storage::BadField& error) {
      throw storage::BadField("the entry " + std::to_string(i) + " of '" + name +
                              "': " + error.what());
    }
  }
  if (reader.left() > 0) storage::refuse_field(name, "the last of the body");
  return entries;
}

struct PushRequest {
  PushHead head;
  std::vector<storage::LogTelling> logs;
};

// As it stands in a request. Agents pack each log once, when it is read.
std::string packed_log(const storage::LogTelling& log);
std::string packed_request(const PushHead& head, const std::vector<std::string>& packed_logs);

// Throws BadField (packed_values.h) that says which field of which log is not as it should be.
PushRequest unpack_request(std::string_view body, std::size_t logs_max);

}  // namespace llmb::push
