// HeldBodies: how many bytes of response bodies the server holds, each from being made until its
// last byte is sent. Large bodies have a share of their own: a few clients that ask for them and do
// not read leave everybody else's answers alone. Those that are read while they are sent are
// counted by their number. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "server/http/packed_body.h"

namespace llmb::http {

class HeldBodies {
 public:
  // Smaller bodies are not counted: their number is bounded by that of the connections.
  static constexpr std::size_t kCountedFromBytes = std::size_t{4} * 1024;
  static constexpr std::size_t kLargeFromBytes = std::size_t{1024} * 1024;

  HeldBodies(std::size_t large_bytes_max, std::size_t other_bytes_max, std::size_t streams_max = 0)
      : large_(large_bytes_max), other_(other_bytes_max), streams_(streams_max) {}

  // So many bytes of a share, until it is gone. It may outlive the HeldBodies.
  class Room {
   public:
    Room(std::shared_ptr<std::atomic<std::size_t>> held, std::size_t bytes)
        : held_(std::move(held)), bytes_(bytes) {}
    ~Room() { *held_ -= bytes_; }
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;

    // What was kept for making a body becomes the body's: in one step, so that nobody gets in
    // between, and nothing counts twice.
    void resize(std::size_t bytes) {
      *held_ += bytes - bytes_;  // modulo 2^n, where it shrinks
      bytes_ = bytes;
    }

   private:
    const std::shared_ptr<std::atomic<std::size_t>> held_;
    std::size_t bytes_;
  };

  // Takes `bytes` of the share of bodies that large. Null where the share is used up; it may be
  // overdrawn by the last one that got any.
  std::shared_ptr<Room> reserve(std::size_t bytes) const {
    return reserve_of(share_of(bytes), bytes);
  }
  // A place for one body that is read while it is sent. Null where all are taken.
  std::shared_ptr<Room> reserve_stream() const { return reserve_of(streams_, 1); }

  // The same body; counted as long as a copy of the returned pointer lives. `room` is what was
  // reserved for making it: it stays with the body, and shrinks or grows to the body's size. Null:
  // none was, and the body counts whatever is held already.
  std::shared_ptr<const std::string> count(std::shared_ptr<const std::string> body,
                                           std::shared_ptr<Room> room = nullptr) const {
    const std::size_t bytes = body ? body->size() : 0;
    return count(std::move(body), bytes, std::move(room));
  }
  std::shared_ptr<const PackedBody> count(std::shared_ptr<const PackedBody> body,
                                          std::shared_ptr<Room> room = nullptr) const {
    const std::size_t bytes = body ? body->held_bytes() : 0;
    return count(std::move(body), bytes, std::move(room));
  }

  std::size_t large_bytes() const { return *large_.held; }
  std::size_t other_bytes() const { return *other_.held; }
  std::size_t streams() const { return *streams_.held; }

 private:
  struct Share {
    explicit Share(std::size_t most) : max(most) {}
    std::size_t max;
    std::shared_ptr<std::atomic<std::size_t>> held = std::make_shared<std::atomic<std::size_t>>(0);
  };
  static std::shared_ptr<Room> reserve_of(const Share& share, std::size_t amount) {
    std::size_t held = *share.held;
    do {
      if (held >= share.max) return nullptr;
    } while (!share.held->compare_exchange_weak(held, held + amount));
    return std::make_shared<Room>(share.held, amount);
  }
  const Share& share_of(std::size_t bytes) const {
    return bytes >= kLargeFromBytes ? large_ : other_;
  }

  template <typename T>
  std::shared_ptr<const T> count(std::shared_ptr<const T> body, std::size_t bytes,
                                 std::shared_ptr<Room> room) const {
    if (bytes < kCountedFromBytes) return body;
    if (room) {
      room->resize(bytes);
    } else {
      const auto& held = share_of(bytes).held;
      *held += bytes;
      room = std::make_shared<Room>(held, bytes);
    }
    const T* const content = body.get();
    return {content, [body = std::move(body), room = std::move(room)](const T*) mutable {
              body.reset();
              room.reset();
            }};
  }

  const Share large_;
  const Share other_;
  const Share streams_;
};

}  // namespace llmb::http
