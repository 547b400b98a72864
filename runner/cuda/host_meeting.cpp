#include "runner/cuda/host_meeting.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runner/cuda/device_error.h"

namespace llmb::runner::cuda {
namespace {

constexpr std::chrono::milliseconds kLookEvery{100};

template <typename T, typename Sum>
void reduce_as(const std::vector<const HostCall*>& calls, std::vector<std::byte>& result) {
  const auto count = static_cast<std::size_t>(calls[0]->count);
  const auto each = calls[0]->kind == HostCallKind::reduce_scatter ? count * calls.size() : count;
  result.resize(each * sizeof(T));
  auto* to = reinterpret_cast<T*>(result.data());
  const auto number = [&](std::size_t member, std::size_t i) {
    const T value = static_cast<const T*>(calls[member]->from)[i];
    if constexpr (std::is_same_v<T, kernels::Bf16>) {
      return kernels::to_float(value);
    } else {
      return static_cast<Sum>(value);
    }
  };
  for (std::size_t i = 0; i < each; ++i) {
    Sum total = number(0, i);
    for (std::size_t member = 1; member < calls.size(); ++member) {
      const Sum value = number(member, i);
      total = calls[0]->reduction == Reduction::sum ? total + value : std::max(total, value);
    }
    if constexpr (std::is_same_v<T, kernels::Bf16>) {
      to[i] = kernels::from_float<T>(total);
    } else {
      to[i] = total;
    }
  }
}

void reduce(const std::vector<const HostCall*>& calls, std::vector<std::byte>& result) {
  switch (calls[0]->type) {
    case NumberType::float32:
      return reduce_as<float, float>(calls, result);
    case NumberType::float64:
      return reduce_as<double, double>(calls, result);
    case NumberType::bf16:
      return reduce_as<kernels::Bf16, float>(calls, result);
    case NumberType::int32:
      return reduce_as<std::int32_t, std::int32_t>(calls, result);
    case NumberType::int64:
      return reduce_as<std::int64_t, std::int64_t>(calls, result);
    default:
      throw std::invalid_argument(fmt::format("{} is not reduced.", name_of(calls[0]->type)));
  }
}

// What all members then have in common.
void make_result(const std::vector<const HostCall*>& calls, std::vector<std::byte>& result) {
  const HostCall& first = *calls[0];
  const std::size_t bytes = static_cast<std::size_t>(first.count) * bytes_of(first.type);
  switch (first.kind) {
    case HostCallKind::all_reduce:
    case HostCallKind::reduce_scatter:
      return reduce(calls, result);
    case HostCallKind::all_gather:
      result.resize(bytes * calls.size());
      for (std::size_t i = 0; i < calls.size(); ++i) {
        if (bytes > 0) std::memcpy(result.data() + i * bytes, calls[i]->from, bytes);
      }
      return;
    case HostCallKind::broadcast: {
      const auto* data =
          static_cast<const std::byte*>(calls[static_cast<std::size_t>(first.root)]->from);
      result.assign(data, data + bytes);
      return;
    }
    case HostCallKind::all_to_all:
      return;
  }
}

std::string difference(const HostCall& a, const HostCall& b) {
  if (a.kind != b.kind) return fmt::format("{} and {}", name_of(a.kind), name_of(b.kind));
  if (a.type != b.type) return fmt::format("{} and {}", name_of(a.type), name_of(b.type));
  if (a.count != b.count) return fmt::format("{} and {} elements", a.count, b.count);
  if (a.reduction != b.reduction) return "a sum and a maximum";
  if (a.root != b.root) return fmt::format("from member {} and from member {}", a.root, b.root);
  return "";
}

}  // namespace

const char* name_of(HostCallKind kind) {
  switch (kind) {
    case HostCallKind::all_reduce:
      return "all_reduce";
    case HostCallKind::all_gather:
      return "all_gather";
    case HostCallKind::reduce_scatter:
      return "reduce_scatter";
    case HostCallKind::all_to_all:
      return "all_to_all";
    case HostCallKind::broadcast:
      return "broadcast";
  }
  return "";
}

HostMeeting::HostMeeting(std::string group, std::vector<int> ranks, CommunicatorOptions options)
    : group_(std::move(group)),
      ranks_(std::move(ranks)),
      options_(std::move(options)),
      posts_(ranks_.size()) {}

void HostMeeting::call(int member, const HostCall& call) {
  meet(member, &call);
  carry_out(member);
  meet(member, nullptr);
}

// The first meeting of a call brings its posts; the second one says that everybody has copied.
void HostMeeting::meet(int member, const HostCall* call) {
  std::unique_lock lock(mutex_);
  if (!failure_.empty()) fail(lock, failure_);
  if (call) posts_[static_cast<std::size_t>(member)] = call;
  if (++arrived_ < ranks_.size()) {
    const std::uint64_t mine = generation_;
    const std::string what = call ? name_of(call->kind) : "the end of a call";
    return wait(lock, what, [&] { return generation_ != mine; });
  }
  arrived_ = 0;
  if (call) {
    agreed_ = posts_;
    const std::string wrong = first_difference();
    if (!wrong.empty()) fail(lock, wrong);
    try {
      make_result(agreed_, result_);
    } catch (const std::exception& error) {
      fail(lock, error.what());
    }
  } else {
    std::fill(posts_.begin(), posts_.end(), nullptr);
  }
  ++generation_;
  changed_.notify_all();
}

std::string HostMeeting::first_difference() const {
  for (std::size_t i = 1; i < agreed_.size(); ++i) {
    const std::string wrong = difference(*agreed_[0], *agreed_[i]);
    if (!wrong.empty()) {
      return fmt::format("ranks {} and {} make different calls: {}", ranks_[0], ranks_[i], wrong);
    }
    if (agreed_[0]->kind != HostCallKind::all_to_all) continue;
    for (std::size_t j = 0; j < agreed_.size(); ++j) {
      if (agreed_[i]->sent[j] != agreed_[j]->received[i]) {
        return fmt::format("rank {} sends {} elements, of which rank {} expects {}", ranks_[i],
                           agreed_[i]->sent[j], ranks_[j], agreed_[j]->received[i]);
      }
    }
  }
  return "";
}

void HostMeeting::carry_out(int member) {
  const auto self = static_cast<std::size_t>(member);
  const HostCall& call = *agreed_[self];
  const std::size_t each = bytes_of(call.type);
  auto* to = static_cast<std::byte*>(call.to);
  if (call.kind == HostCallKind::all_to_all) {
    for (std::size_t i = 0; i < agreed_.size(); ++i) {
      const auto* from = static_cast<const std::byte*>(agreed_[i]->from);
      for (std::size_t j = 0; j < self; ++j) {
        from += static_cast<std::size_t>(agreed_[i]->sent[j]) * each;
      }
      const std::size_t bytes = static_cast<std::size_t>(call.received[i]) * each;
      if (bytes > 0) std::memcpy(to, from, bytes);
      to += bytes;
    }
    return;
  }
  const bool is_scattered = call.kind == HostCallKind::reduce_scatter;
  const std::size_t bytes =
      is_scattered ? static_cast<std::size_t>(call.count) * each : result_.size();
  if (bytes > 0) std::memcpy(to, result_.data() + (is_scattered ? self * bytes : 0), bytes);
}

std::uint64_t HostMeeting::put_down(int from, int to, const void* data, std::size_t bytes) {
  std::unique_lock lock(mutex_);
  if (!failure_.empty()) fail(lock, failure_);
  Channel& channel = channels_[{from, to}];
  channel.messages.push_back({data, bytes});
  changed_.notify_all();
  return ++channel.put;
}

void HostMeeting::wait_until_taken(int from, int to, std::uint64_t message) {
  std::unique_lock lock(mutex_);
  wait(lock,
       fmt::format("rank {} to take what rank {} sends", ranks_[static_cast<std::size_t>(to)],
                   ranks_[static_cast<std::size_t>(from)]),
       [&, channel = std::pair(from, to)] { return channels_[channel].taken >= message; });
}

void HostMeeting::take(int from, int to, void* data, std::size_t bytes) {
  std::unique_lock lock(mutex_);
  Channel& channel = channels_[{from, to}];
  wait(lock,
       fmt::format("what rank {} sends to rank {}", ranks_[static_cast<std::size_t>(from)],
                   ranks_[static_cast<std::size_t>(to)]),
       [&] { return !channel.messages.empty(); });
  const Message message = channel.messages.front();
  channel.messages.pop_front();
  if (message.bytes != bytes) {
    fail(lock, fmt::format("rank {} sends {} bytes where rank {} expects {}",
                           ranks_[static_cast<std::size_t>(from)], message.bytes,
                           ranks_[static_cast<std::size_t>(to)], bytes));
  }
  if (bytes > 0) std::memcpy(data, message.data, bytes);
  ++channel.taken;
  changed_.notify_all();
}

void HostMeeting::announce(std::function<void()> let_run) {
  {
    const std::lock_guard lock(mutex_);
    if (!somebody_waits()) {
      announced_.push_back(std::move(let_run));
      return;
    }
  }
  let_run();
}

// Whose condition has come, and who has not woken since, waits no more.
bool HostMeeting::somebody_waits() const {
  return std::any_of(waits_.begin(), waits_.end(),
                     [](const std::function<bool()>& has_come) { return !has_come(); });
}

void HostMeeting::wait(std::unique_lock<std::mutex>& lock, const std::string& what,
                       const std::function<bool()>& until) {
  const auto mine = waits_.insert(waits_.end(), until);
  for (std::vector<std::function<void()>> late; !announced_.empty(); late.clear()) {
    late.swap(announced_);
    lock.unlock();
    for (const auto& let_run : late) let_run();
    lock.lock();
  }
  const auto end = std::chrono::steady_clock::now() + options_.patience;
  bool has_come = false;
  std::string gone;
  do {
    has_come =
        changed_.wait_until(lock, std::min(end, std::chrono::steady_clock::now() + kLookEvery),
                            [&] { return until() || !failure_.empty(); });
    if (!has_come && options_.who_is_gone) gone = options_.who_is_gone();
  } while (!has_come && gone.empty() && std::chrono::steady_clock::now() < end);
  waits_.erase(mine);
  if (!gone.empty()) fail(lock, gone);
  if (!has_come) {
    const double waited_s = std::chrono::duration<double>(options_.patience).count();
    fail(lock, fmt::format("waited {:.1f} s for {}{}", waited_s, what, absent_members()));
  }
  if (!until()) fail(lock, failure_);
}

std::string HostMeeting::absent_members() const {
  if (arrived_ == 0) return "";
  std::string absent;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (!posts_[i]) absent += fmt::format("{}{}", absent.empty() ? "" : ", ", ranks_[i]);
  }
  return absent.empty() ? "" : "; not there: rank " + absent;
}

void HostMeeting::fail(std::unique_lock<std::mutex>& lock, const std::string& reason) {
  if (failure_.empty()) failure_ = reason;
  const std::string first = failure_;
  const std::string group = group_;
  changed_.notify_all();
  lock.unlock();
  throw CommunicatorFailed(group, first);
}

void HostMeeting::set_group(const std::string& group) {
  const std::lock_guard lock(mutex_);
  group_ = group;
}

}  // namespace llmb::runner::cuda
