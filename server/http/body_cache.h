// BodyCache: the bodies most recently sent, by resource, version and encoding. An ETag names one
// content for ever, so nothing in here gets stale. Bounded in bytes; the least recently used goes
// first. A large one is not kept, but found as long as somebody holds it. Thread-safe.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "server/http/message.h"

namespace llmb::http {

class BodyCache {
 public:
  explicit BodyCache(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  Body find(const std::string& key);  // without bytes where it is not kept
  // Of a body of more than an eighth of the whole, which would push out too many, only where it is.
  void keep(const std::string& key, Body body);
  std::size_t bytes() const;

 private:
  struct Kept {
    std::string key;
    Body body;
    std::size_t bytes() const { return key.size() + body.held_bytes(); }
  };

  struct Held {
    std::weak_ptr<const std::string> bytes;
    std::weak_ptr<const PackedBody> packed;
    std::vector<std::pair<std::string, std::string>> headers;
    bool is_gone() const { return bytes.expired() && packed.expired(); }
  };

  mutable std::mutex mutex_;
  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::list<Kept> kept_;  // most recently used first
  std::unordered_map<std::string_view, std::list<Kept>::iterator> by_key_;  // views into kept_
  std::unordered_map<std::string, Held> held_;                              // by others
};

}  // namespace llmb::http
