// BodyCache: the bodies most recently sent, by resource, version and encoding. Bounded in bytes;
// what was not asked for longest goes first. Thread-safe.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace llmb::http {

class BodyCache {
 public:
  explicit BodyCache(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  std::shared_ptr<const std::string> find(const std::string& key);  // null where not kept
  // A body of more than an eighth of the whole is not kept: it would push out too many.
  void keep(const std::string& key, std::shared_ptr<const std::string> body);
  std::size_t bytes() const;

 private:
  struct Kept {
    std::string key;
    std::shared_ptr<const std::string> body;
    std::size_t bytes() const { return key.size() + body->size(); }
  };

  mutable std::mutex mutex_;
  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::list<Kept> kept_;  // most recently used first
  std::unordered_map<std::string_view, std::list<Kept>::iterator> by_key_;  // views into kept_
};

}  // namespace llmb::http
