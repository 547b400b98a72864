// ResponseCache: rendered bodies by ETag, so that a list that is asked for again, by anyone, costs
// one row read and no rendering. An ETag names one content for ever: nothing goes stale here,
// it only falls out.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace llmb::api {

struct RenderedBody {
  std::shared_ptr<const std::string> body;
  std::vector<std::pair<std::string, std::string>> headers;
};

// Thread-safe. Least recently used bodies go first when the bound on bytes is reached.
class ResponseCache {
 public:
  explicit ResponseCache(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  RenderedBody find(const std::string& etag);  // body is null where there is none
  void put(const std::string& etag, RenderedBody rendered);

 private:
  struct Entry {
    std::string etag;
    RenderedBody rendered;
  };

  const std::size_t bytes_max_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_etag_;
  std::size_t bytes_ = 0;
};

}  // namespace llmb::api
