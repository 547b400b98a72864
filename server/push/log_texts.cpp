#include "server/push/log_texts.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "server/push/log_text_request.h"

namespace llmb::push {
namespace {

using storage::kLogBlockBytes;
using storage::RunId;

constexpr std::int64_t kTextsAtOnce = 64;
// A request is sent once it has as much.
constexpr std::uint64_t kRequestBytes = std::uint64_t{1} << 20U;

// The block after the text that the server has; of a long log without its middle.
std::uint64_t next_block(const storage::PushStore::LogText& log) {
  const std::uint64_t end = log.bytes_read;
  const std::uint64_t next = log.server_bytes / kLogBlockBytes * kLogBlockBytes;
  if (next < storage::kLogHeadBytes || end <= next + storage::kLogTailBytes) return next;
  return (end - storage::kLogTailBytes) / kLogBlockBytes * kLogBlockBytes;
}

}  // namespace

LogTexts::LogTexts(storage::PushStore& store, ReadLogText read, std::chrono::milliseconds rest)
    : store_(store), read_(std::move(read)), rest_(rest) {}

bool LogTexts::is_level() {
  return !read_ || store_.text_pending(0, 1).empty();
}

std::vector<storage::LogBlockTelling> LogTexts::next() {
  std::vector<storage::LogBlockTelling> blocks;
  sent_.clear();
  packed_bytes_ = 0;
  if (!read_) return blocks;
  const auto now = Clock::now();
  std::erase_if(resting_until_, [&](const auto& entry) { return entry.second <= now; });
  for (int pass = 0; pass < 2 && blocks.empty(); ++pass) {
    for (bool has_more = true; has_more;) {
      const auto runs = store_.text_pending(after_, kTextsAtOnce);
      has_more = std::cmp_equal(runs.size(), kTextsAtOnce);
      for (const RunId run : runs) {
        if (blocks.size() >= kTextBlocksMax || packed_bytes_ >= kRequestBytes) return blocks;
        after_ = run;
        if (!resting_until_.contains(run)) add(run, blocks);
      }
    }
    after_ = 0;
  }
  return blocks;
}

void LogTexts::add(RunId run, std::vector<storage::LogBlockTelling>& blocks) {
  auto log = store_.log_text(run);
  if (!log || log->server_bytes >= log->bytes_read) {
    store_.keep_text(run, std::nullopt);
    return;
  }
  const std::uint64_t end = log->bytes_read;
  while (log->server_bytes < end) {
    if (blocks.size() >= kTextBlocksMax || packed_bytes_ >= kRequestBytes) return;
    const std::uint64_t begin = next_block(*log);
    const auto text = read_(*log, begin, std::min(kLogBlockBytes, end - begin));
    if (!text) {
      spdlog::warn("the text of {} in {} is not pushed: {}", log->relative_path, log->root_path,
                   text.error().message);
      store_.keep_text(run, std::nullopt);
      return;
    }
    blocks.push_back(
        {log->root_path, log->relative_path, log->generation, packed_block(begin, *text)});
    sent_.push_back(run);
    packed_bytes_ += blocks.back().block.packed.size();
    log->server_bytes = begin + text->size();
  }
  resting_until_[run] = Clock::now() + rest_;
}

void LogTexts::keep(const std::vector<std::optional<std::uint64_t>>& ends) {
  for (std::size_t i = 0; i < sent_.size() && i < ends.size(); ++i) {
    const bool is_last = i + 1 == sent_.size() || sent_[i + 1] != sent_[i];
    if (!is_last) continue;
    store_.keep_text(sent_[i], ends[i]);
    if (ends[i]) {
      untaken_.erase(sent_[i]);
    } else {
      untaken_.insert(sent_[i]);
    }
  }
}

}  // namespace llmb::push
