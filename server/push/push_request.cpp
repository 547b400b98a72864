#include "server/push/push_request.h"

#include "server/push/packed_telling.h"
#include "storage/packed_values.h"

namespace llmb::push {
namespace {

constexpr std::string_view kBatchMagic = "llmb-push ";
constexpr std::size_t kNameBytesMax = 256;
// What one request's records may take beside its bytes: some 250,000 steps.
constexpr std::size_t kMemoryMax = std::size_t{96} << 20U;

// Both ways: visit(name, text).
template <typename Head, typename Visit>
void visit_names(Head& head, const Visit& visit) {
  visit("cluster", head.cluster);
  visit("store_id", head.store_id);
  visit("agent", head.agent);
  visit("version", head.version);
  visit("pending_since", head.pending_since);
  visit("sent_at", head.sent_at);
}

void require_own_form(storage::PackReader& reader) {
  const bool is_ours = reader.left() >= kBatchMagic.size() &&
                       reader.raw(kBatchMagic.size(), "format") == kBatchMagic &&
                       reader.count("format") == static_cast<std::uint64_t>(kFormat) &&
                       reader.word("format") == form_hash();
  if (!is_ours) throw ForeignForm();
}

}  // namespace

ForeignForm::ForeignForm()
    : BadField("agent and server are of versions that do not go together: bring both to one") {}

void pack_head(storage::PackWriter& writer, const PushHead& head) {
  visit_names(head, [&](const char* /*name*/, const std::string& text) { writer.write(text); });
  writer.write(head.logs_pending);
  writer.write(head.is_last);
}

PushHead unpack_head(storage::PackReader& reader) {
  PushHead head;
  visit_names(head, [&](const char* name, std::string& text) {
    reader.read(name, text);
    if (text.size() > kNameBytesMax) storage::refuse_field(name, "of at most 256 bytes");
  });
  if (head.store_id.empty()) storage::refuse_field("store_id", "there");
  reader.read("logs_pending", head.logs_pending);
  reader.read("is_last", head.is_last);
  return head;
}

std::string packed_log(const storage::LogTelling& log) {
  storage::PackWriter writer;
  pack_telling(writer, log);
  return writer.take();
}

std::string packed_request(const PushHead& head, const std::vector<std::string>& packed_logs) {
  storage::PackWriter writer;
  writer.raw(kBatchMagic);
  writer.count(static_cast<std::uint64_t>(kFormat));
  writer.word(form_hash());
  pack_head(writer, head);
  writer.count(packed_logs.size());
  for (const std::string& log : packed_logs) writer.raw(log);
  return writer.take();
}

PushRequest unpack_request(std::string_view body, std::size_t logs_max) {
  storage::PackReader reader(body, kMemoryMax);
  require_own_form(reader);
  PushRequest request;
  request.head = unpack_head(reader);
  request.logs = unpack_entries(reader, "logs", logs_max, unpack_telling);
  return request;
}

}  // namespace llmb::push
