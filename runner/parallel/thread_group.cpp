#include "runner/parallel/thread_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runner/parallel/reduction.h"

namespace llmb::runner {
namespace {

std::size_t as_index(int member) {
  return static_cast<std::size_t>(member);
}

// memcpy must not be given null, which an empty buffer may have.
void copy_bytes(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0 && to != from) std::memcpy(to, from, bytes);
}

std::size_t sum_before(std::span<const std::size_t> counts, std::size_t index) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < index; ++i) sum += counts[i];
  return sum;
}

}  // namespace

ThreadGroup::ThreadGroup(std::string name, std::vector<int> ranks,
                         std::chrono::milliseconds patience, OnFailure on_failure)
    : name_(std::move(name)),
      ranks_(std::move(ranks)),
      patience_(patience),
      on_failure_(std::move(on_failure)),
      posts_(ranks_.size(), nullptr),
      agreed_(ranks_.size(), nullptr) {}

CallSignature ThreadGroup::signature_of(const ThreadPost& post) const {
  const std::size_t count =
      post.kind == CollectiveKind::broadcast ? post.received.count : post.sent.count;
  return {post.kind,      post.sent.type, count, post.root, std::string(post.tag->name),
          post.tag->str()};
}

void ThreadGroup::throw_if_failed() const {
  if (failure_.empty()) return;
  if (failed_outside_) throw PeerFailure(failure_);
  throw CommunicationError(failure_);
}

void ThreadGroup::fail(std::unique_lock<std::mutex>& lock, const std::string& reason) {
  failure_ = "group " + name_ + ": " + reason;
  const std::string all = failure_;
  changed_.notify_all();
  lock.unlock();
  on_failure_(all);
  throw CommunicationError(all);
}

void ThreadGroup::fail_from_outside(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (!failure_.empty()) return;
  failure_ = reason;
  failed_outside_ = true;
  changed_.notify_all();
}

std::string ThreadGroup::first_disagreement() const {
  const CallSignature first = signature_of(*posts_[0]);
  for (std::size_t i = 1; i < posts_.size(); ++i) {
    std::string wrong = disagreement(first, ranks_[0], signature_of(*posts_[i]), ranks_[i]);
    if (!wrong.empty()) return wrong;
  }
  if (first.kind != CollectiveKind::all_to_all) return "";
  for (std::size_t i = 0; i < posts_.size(); ++i) {
    for (std::size_t j = 0; j < posts_.size(); ++j) {
      const std::size_t sent = posts_[i]->sent_counts[j];
      const std::size_t expected = posts_[j]->received_counts[i];
      if (sent == expected) continue;
      return fmt::format(
          "ranks disagree in all_to_all: rank {} sends {} elements at {}; rank {} expects {} at {}",
          ranks_[i], sent, posts_[i]->tag->str(), ranks_[j], expected, posts_[j]->tag->str());
    }
  }
  return "";
}

std::string ThreadGroup::absent_members(const ThreadPost& post, int member) const {
  std::string text =
      fmt::format("rank {} waited {} ms in {}; did not come: rank", ranks_[as_index(member)],
                  patience_.count(), signature_of(post).str());
  for (std::size_t i = 0; i < posts_.size(); ++i) {
    if (!posts_[i]) text += fmt::format(" {}", ranks_[i]);
  }
  return text;
}

// All members come to the first meeting of a call or fail there. Once they have, each of them is
// between two meetings of the same call, and reads the others' buffers: nobody may leave before
// all have come to the second, whatever has failed elsewhere.
void ThreadGroup::meet(int member, const ThreadPost& post, bool first_time) {
  std::unique_lock lock(mutex_);
  if (first_time) throw_if_failed();
  posts_[as_index(member)] = &post;
  const std::uint64_t generation = generation_;
  if (++arrived_ < ranks_.size()) {
    if (first_time) {
      wait(lock, member, post, generation);
    } else {
      changed_.wait(lock, [&] { return generation_ != generation; });
    }
    return;
  }
  if (first_time) {
    const std::string wrong = first_disagreement();
    if (!wrong.empty()) fail(lock, wrong);
    const bool reduces =
        post.kind == CollectiveKind::all_reduce_sum || post.kind == CollectiveKind::all_reduce_max;
    if (reduces && reduced_.size() < post.sent.bytes()) reduced_.resize(post.sent.bytes());
  }
  agreed_ = posts_;
  std::fill(posts_.begin(), posts_.end(), nullptr);
  arrived_ = 0;
  ++generation_;
  changed_.notify_all();
}

void ThreadGroup::wait(std::unique_lock<std::mutex>& lock, int member, const ThreadPost& post,
                       std::uint64_t generation) {
  const bool woken = changed_.wait_for(
      lock, patience_, [&] { return generation_ != generation || !failure_.empty(); });
  if (generation_ != generation) return;
  if (!woken) fail(lock, absent_members(post, member));
  throw_if_failed();
}

void ThreadGroup::reduce_slice(ReduceOp op, int member) {
  std::vector<const void*> sources;
  for (const ThreadPost* post : agreed_) sources.push_back(post->sent.data);
  const ConstBuffer& shape = agreed_[0]->sent;
  const Slice slice = slice_of(shape.count, static_cast<int>(ranks_.size()), member);
  reduce_in_order(op, shape.type, sources, slice.first, slice.count,
                  reduced_.data() + slice.first * bytes_of(shape.type));
}

void ThreadGroup::copy_for(int member, const ThreadPost& post) {
  const std::size_t width = bytes_of(post.received.type);
  auto* received = static_cast<std::byte*>(post.received.data);
  for (std::size_t i = 0; i < agreed_.size(); ++i) {
    const auto* sent = static_cast<const std::byte*>(agreed_[i]->sent.data);
    std::size_t count = agreed_[i]->sent.count;
    if (post.kind == CollectiveKind::all_to_all) {
      sent += sum_before(agreed_[i]->sent_counts, as_index(member)) * width;
      count = post.received_counts[i];
    }
    copy_bytes(received, sent, count * width);
    received += count * width;
  }
}

void ThreadGroup::share_work(int member, const ThreadPost& post) {
  switch (post.kind) {
    case CollectiveKind::all_reduce_sum:
      return reduce_slice(ReduceOp::sum, member);
    case CollectiveKind::all_reduce_max:
      return reduce_slice(ReduceOp::max, member);
    case CollectiveKind::all_gather:
    case CollectiveKind::all_to_all:
      return copy_for(member, post);
    case CollectiveKind::reduce_scatter: {
      std::vector<const void*> sources;
      for (const ThreadPost* other : agreed_) sources.push_back(other->sent.data);
      return reduce_in_order(ReduceOp::sum, post.sent.type, sources,
                             as_index(member) * post.received.count, post.received.count,
                             post.received.data);
    }
    case CollectiveKind::broadcast:
      if (member == post.root) return;
      return copy_bytes(post.received.data, agreed_[as_index(post.root)]->received.data,
                        post.received.bytes());
    case CollectiveKind::barrier:
    case CollectiveKind::send:
    case CollectiveKind::recv:
      return;
  }
}

void ThreadGroup::collective(int member, const ThreadPost& post) {
  meet(member, post, true);
  if (post.kind == CollectiveKind::barrier) return;
  share_work(member, post);
  meet(member, post, false);
  // `reduced_` is touched again only after all members have come to their next call.
  if (post.kind == CollectiveKind::all_reduce_sum || post.kind == CollectiveKind::all_reduce_max) {
    copy_bytes(post.received.data, reduced_.data(), post.received.bytes());
  }
}

void ThreadGroup::send(int from, int to, ConstBuffer data, const CallTag& tag) {
  Message message{
      {CollectiveKind::send, data.type, data.count, -1, std::string(tag.name), tag.str()}, {}};
  message.data.resize(data.bytes());
  copy_bytes(message.data.data(), data.data, data.bytes());
  const std::lock_guard lock(mutex_);
  throw_if_failed();
  mailboxes_[{from, to, message.signature.tag_name}].push_back(std::move(message));
  changed_.notify_all();
}

std::string ThreadGroup::unheard_message(int from, int to, const CallSignature& wanted) const {
  std::string text =
      fmt::format("rank {} waited {} ms in {}; nothing came from rank {}", ranks_[as_index(to)],
                  patience_.count(), wanted.str(), ranks_[as_index(from)]);
  for (const auto& [channel, waiting] : mailboxes_) {
    if (std::get<0>(channel) != from || std::get<1>(channel) != to || waiting.empty()) continue;
    text += "; it did send " + waiting.front().signature.str();
  }
  return text;
}

void ThreadGroup::recv(int from, int to, Buffer data, const CallTag& tag) {
  const CallSignature wanted{CollectiveKind::recv,  data.type, data.count, -1,
                             std::string(tag.name), tag.str()};
  std::unique_lock lock(mutex_);
  std::deque<Message>& mailbox = mailboxes_[{from, to, wanted.tag_name}];
  const bool woken =
      changed_.wait_for(lock, patience_, [&] { return !mailbox.empty() || !failure_.empty(); });
  if (mailbox.empty()) {
    if (!woken) fail(lock, unheard_message(from, to, wanted));
    throw_if_failed();
  }
  const Message message = std::move(mailbox.front());
  mailbox.pop_front();
  if (message.signature.type != data.type || message.signature.count != data.count) {
    fail(lock,
         fmt::format("ranks disagree: rank {} calls {}; rank {} calls {}", ranks_[as_index(from)],
                     message.signature.str(), ranks_[as_index(to)], wanted.str()));
  }
  lock.unlock();
  copy_bytes(data.data, message.data.data(), data.bytes());
}

}  // namespace llmb::runner
