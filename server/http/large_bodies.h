// LargeBodies: how many bytes of large response bodies the server holds, each from being made until
// its last byte is sent. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace llmb::http {

class LargeBodies {
 public:
  // Smaller bodies are not counted: their number is bounded by that of the connections.
  static constexpr std::size_t kLargeFromBytes = std::size_t{1024} * 1024;

  explicit LargeBodies(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  bool is_full() const { return *bytes_ >= bytes_max_; }
  std::size_t bytes() const { return *bytes_; }

  // The same body; counted as long as a copy of the returned pointer lives, which may be longer
  // than this object does.
  std::shared_ptr<const std::string> count(std::shared_ptr<const std::string> body) const {
    if (!body || body->size() < kLargeFromBytes) return body;
    *bytes_ += body->size();
    const std::string* const text = body.get();
    return {text, [body = std::move(body), counter = bytes_](const std::string*) mutable {
              *counter -= body->size();
              body.reset();
            }};
  }

 private:
  const std::size_t bytes_max_;
  const std::shared_ptr<std::atomic<std::size_t>> bytes_ =
      std::make_shared<std::atomic<std::size_t>>(0);
};

}  // namespace llmb::http
