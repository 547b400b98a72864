#include "server/http/body_cache.h"

namespace llmb::http {

Body BodyCache::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) {
    const auto held = held_.find(key);
    if (held == held_.end()) return {};
    return {held->second.bytes.lock(), held->second.headers, held->second.packed.lock()};
  }
  kept_.splice(kept_.begin(), kept_, found->second);
  return found->second->body;
}

void BodyCache::keep(const std::string& key, Body body) {
  const std::lock_guard lock(mutex_);
  if (by_key_.contains(key)) return;
  if (key.size() + body.held_bytes() > bytes_max_ / 8) {
    std::erase_if(held_, [](const auto& held) { return held.second.is_gone(); });
    held_[key] = {body.bytes, body.packed, std::move(body.headers)};
    return;
  }
  kept_.push_front({key, std::move(body)});
  by_key_.emplace(kept_.front().key, kept_.begin());
  bytes_ += kept_.front().bytes();
  while (bytes_ > bytes_max_) {
    bytes_ -= kept_.back().bytes();
    by_key_.erase(kept_.back().key);
    kept_.pop_back();
  }
}

std::size_t BodyCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace llmb::http
