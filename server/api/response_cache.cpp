#include "server/api/response_cache.h"

namespace llmb::api {

RenderedBody ResponseCache::find(const std::string& etag) {
  const std::scoped_lock lock(mutex_);
  const auto found = by_etag_.find(etag);
  if (found == by_etag_.end()) return {};
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->rendered;
}

void ResponseCache::put(const std::string& etag, RenderedBody rendered) {
  const std::scoped_lock lock(mutex_);
  const std::size_t size = rendered.body->size();
  if (size > bytes_max_ / 4 || by_etag_.contains(etag)) return;
  entries_.push_front({etag, std::move(rendered)});
  by_etag_.emplace(entries_.front().etag, entries_.begin());
  bytes_ += size;
  while (bytes_ > bytes_max_) {
    const Entry& oldest = entries_.back();
    bytes_ -= oldest.rendered.body->size();
    by_etag_.erase(oldest.etag);
    entries_.pop_back();
  }
}

}  // namespace llmb::api
