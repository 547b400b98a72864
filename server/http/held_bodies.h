// HeldBodies: how many bytes of response bodies the server holds, each from being made until its
// last byte is sent. Large bodies have a share of their own: a few clients that ask for them and do
// not read leave everybody else's answers alone. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace llmb::http {

class HeldBodies {
 public:
  // Smaller bodies are not counted: their number is bounded by that of the connections.
  static constexpr std::size_t kCountedFromBytes = std::size_t{4} * 1024;
  static constexpr std::size_t kLargeFromBytes = std::size_t{1024} * 1024;

  HeldBodies(std::size_t large_bytes_max, std::size_t other_bytes_max)
      : large_(large_bytes_max), other_(other_bytes_max) {}

  // Takes `bytes` of the share of bodies that large, until the pointer's last copy is gone. Null
  // where the share is used up; it may be overdrawn by the last one that got any.
  std::shared_ptr<const void> reserve(std::size_t bytes) const {
    const Share& share = share_of(bytes);
    std::size_t held = *share.held;
    do {
      if (held >= share.bytes_max) return nullptr;
    } while (!share.held->compare_exchange_weak(held, held + bytes));
    return {share.held.get(),
            [counter = share.held, bytes](const void* /*held*/) { *counter -= bytes; }};
  }

  // The same body; counted as long as a copy of the returned pointer lives, which may be longer
  // than this object does. Whoever has made a body first asks reserve() whether there is room.
  std::shared_ptr<const std::string> count(std::shared_ptr<const std::string> body) const {
    if (!body || body->size() < kCountedFromBytes) return body;
    const Share& share = share_of(body->size());
    *share.held += body->size();
    const std::string* const text = body.get();
    return {text, [body = std::move(body), counter = share.held](const std::string*) mutable {
              *counter -= body->size();
              body.reset();
            }};
  }

  std::size_t large_bytes() const { return *large_.held; }
  std::size_t other_bytes() const { return *other_.held; }

 private:
  struct Share {
    explicit Share(std::size_t max) : bytes_max(max) {}
    std::size_t bytes_max;
    std::shared_ptr<std::atomic<std::size_t>> held = std::make_shared<std::atomic<std::size_t>>(0);
  };
  const Share& share_of(std::size_t bytes) const {
    return bytes >= kLargeFromBytes ? large_ : other_;
  }

  const Share large_;
  const Share other_;
};

}  // namespace llmb::http
