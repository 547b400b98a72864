// OwnCopies: a group's collectives where the other members do not exist: whatever they would have
// contributed is replaced by copies of this rank's own data, so that every buffer has its true size
// and the arithmetic stays finite. Where the buffers are, whoever derives from it says.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "runner/parallel/communicator.h"

namespace llmb::runner {

// Base: Communicator, or a class that derives from it.
template <typename Base>
class OwnCopies : public Base {
 public:
  using Base::Base;

 protected:
  // The two places do not overlap.
  virtual void copy_bytes(void* to, const void* from, std::size_t bytes) = 0;
  virtual void clear_bytes(void* to, std::size_t bytes) = 0;

 private:
  void do_all_reduce(Buffer /*data*/, ReduceOp /*op*/, const CallTag& /*tag*/) final {}
  void do_broadcast(Buffer /*data*/, int /*root*/, const CallTag& /*tag*/) final {}

  void do_all_gather(ConstBuffer mine, Buffer all, const CallTag& /*tag*/) final {
    fill_with(all.data, all.bytes(), mine.data, mine.bytes());
  }

  void do_reduce_scatter(ConstBuffer all, Buffer mine, const CallTag& /*tag*/) final {
    const auto* part = static_cast<const std::byte*>(all.data) +
                       static_cast<std::size_t>(this->rank()) * mine.bytes();
    fill_with(mine.data, mine.bytes(), part, mine.bytes());
  }

  void do_all_to_all(ConstBuffer sent, std::span<const std::size_t> sent_counts, Buffer received,
                     std::span<const std::size_t> received_counts, const CallTag& /*tag*/) final {
    const std::size_t width = bytes_of(sent.type);
    const auto* from = static_cast<const std::byte*>(sent.data);
    auto* to = static_cast<std::byte*>(received.data);
    for (std::size_t i = 0; i < sent_counts.size(); ++i) {
      fill_with(to, received_counts[i] * width, from, sent_counts[i] * width);
      from += sent_counts[i] * width;
      to += received_counts[i] * width;
    }
  }

  // Fills `to` with `from` from its beginning, again and again; zeros where there is nothing.
  void fill_with(void* to, std::size_t to_bytes, const void* from, std::size_t from_bytes) {
    auto* out = static_cast<std::byte*>(to);
    if (from_bytes == 0) {
      if (to_bytes > 0) clear_bytes(out, to_bytes);
      return;
    }
    for (std::size_t at = 0; at < to_bytes; at += from_bytes) {
      if (out + at != from) copy_bytes(out + at, from, std::min(from_bytes, to_bytes - at));
    }
  }
};

}  // namespace llmb::runner
