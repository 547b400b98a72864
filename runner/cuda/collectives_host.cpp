// The double's collectives: members are threads of this process, and meet in a HostMeeting.
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

#include "runner/cuda/collectives.h"
#include "runner/cuda/host_capture.h"
#include "runner/cuda/host_meeting.h"
#include "runner/cuda/host_registry.h"
#include "runner/data/counter_random.h"

namespace llmb::runner::cuda {
namespace {

// What one call does on its stream: what it puts down for others, then what it waits for, then
// until the others have taken it.
struct StreamCall {
  Stream stream;
  std::shared_ptr<HostMeeting> meeting;
  std::function<void()> put_down;
  std::function<void()> take;
  std::function<void()> wait_until_taken;
};

struct OpenGroup {
  bool is_open = false;
  std::vector<StreamCall> calls;
};
thread_local OpenGroup open_group;

// All calls of one stream are one piece of its work.
void put_calls(const std::vector<StreamCall>& calls) {
  const auto work = [calls] {
    for (const StreamCall& call : calls) {
      if (call.put_down) call.put_down();
    }
    for (const StreamCall& call : calls) {
      if (call.take) call.take();
    }
    for (const StreamCall& call : calls) {
      if (call.wait_until_taken) call.wait_until_taken();
    }
  };
  const auto announce = [calls](const std::shared_ptr<HostStream>& stream, std::uint64_t ticket) {
    for (const StreamCall& call : calls) {
      call.meeting->announce([weak = std::weak_ptr(stream), ticket] {
        if (const auto its_stream = weak.lock()) its_stream->let_run(ticket);
      });
    }
  };
  const Stream stream = calls[0].stream;
  if (const auto capture = HostCapture::of(stream)) return capture->put(stream, {work, announce});
  ++host_calls().launches;
  const auto host = host_stream(stream);
  announce(host, host->put(work));
}

void make_call(StreamCall call) {
  if (open_group.is_open) {
    open_group.calls.push_back(std::move(call));
  } else {
    put_calls({std::move(call)});
  }
}

// Groups find each other by their id.
struct Groups {
  std::mutex mutex;
  std::map<std::array<std::byte, 128>, std::weak_ptr<HostMeeting>> by_id;
};

std::shared_ptr<HostMeeting> meeting_of(const CommunicatorId& id, const std::string& group,
                                        const std::vector<int>& ranks,
                                        const CommunicatorOptions& options) {
  static Groups groups;
  const std::lock_guard lock(groups.mutex);
  std::weak_ptr<HostMeeting>& place = groups.by_id[id.bytes];
  std::shared_ptr<HostMeeting> meeting = place.lock();
  if (!meeting) place = meeting = std::make_shared<HostMeeting>(group, ranks, options);
  return meeting;
}

// The id of a group inside another one: every member computes the same.
CommunicatorId id_within(const CommunicatorId& parent, std::uint64_t split,
                         const std::vector<int>& ranks) {
  std::uint64_t key = combine_key(0, split);
  for (const std::byte byte : parent.bytes) key = combine_key(key, std::to_integer<unsigned>(byte));
  for (const int rank : ranks) key = combine_key(key, static_cast<std::uint64_t>(rank));
  CommunicatorId id;
  for (std::size_t i = 0; i < id.bytes.size(); i += sizeof(key)) {
    key = scramble(key);
    std::memcpy(id.bytes.data() + i, &key, sizeof(key));
  }
  return id;
}

class HostCommunicator : public DeviceCommunicator {
 public:
  HostCommunicator(const std::string& name, const std::vector<int>& ranks, int rank,
                   const CommunicatorId& id, const CommunicatorOptions& options)
      : DeviceCommunicator(name, ranks, rank),
        id_(id),
        options_(options),
        meeting_(meeting_of(id, describe_group(), ranks, options)) {
    host_device();  // chosen, as a device's communicator needs it
    meeting_->call(this->rank(), {.kind = HostCallKind::broadcast});
  }

  void add_name(const std::string& name) override {
    DeviceCommunicator::add_name(name);
    meeting_->set_group(describe_group());
  }

  std::unique_ptr<DeviceCommunicator> split(const std::string& name, const std::vector<int>& ranks,
                                            CommunicatorUse /*use*/) override {
    const std::uint64_t number = splits_++;
    if (ranks.empty()) return nullptr;
    return std::make_unique<HostCommunicator>(name, ranks, global_rank(),
                                              id_within(id_, number, ranks), options_);
  }

  void all_reduce(const void* from, void* to, std::int64_t count, NumberType type,
                  Reduction reduction, Stream stream) override {
    put({.kind = HostCallKind::all_reduce,
         .from = from,
         .to = to,
         .count = count,
         .type = type,
         .reduction = reduction},
        stream);
  }
  void all_gather(const void* from, void* to, std::int64_t count, NumberType type,
                  Stream stream) override {
    put({.kind = HostCallKind::all_gather, .from = from, .to = to, .count = count, .type = type},
        stream);
  }
  void reduce_scatter(const void* from, void* to, std::int64_t count, NumberType type,
                      Stream stream) override {
    put({.kind = HostCallKind::reduce_scatter,
         .from = from,
         .to = to,
         .count = count,
         .type = type},
        stream);
  }
  void all_to_all(const void* from, std::span<const std::int64_t> sent, void* to,
                  std::span<const std::int64_t> received, NumberType type, Stream stream) override {
    check_counts(sent, received);
    put({.kind = HostCallKind::all_to_all,
         .from = from,
         .to = to,
         .type = type,
         .sent = {sent.begin(), sent.end()},
         .received = {received.begin(), received.end()}},
        stream);
  }
  void broadcast(void* data, std::int64_t count, NumberType type, int root,
                 Stream stream) override {
    check_member(root);
    put({.kind = HostCallKind::broadcast,
         .from = data,
         .to = data,
         .count = count,
         .type = type,
         .root = root},
        stream);
  }

  void send(const void* from, std::int64_t count, NumberType type, int to, Stream stream) override {
    check_member(to);
    const std::size_t bytes = static_cast<std::size_t>(count) * bytes_of(type);
    require_on_device(from, bytes, "message that is sent");
    const auto message = std::make_shared<std::uint64_t>(0);
    make_call({stream, meeting_,
               [meeting = meeting_, message, me = rank(), to, from, bytes] {
                 *message = meeting->put_down(me, to, from, bytes);
               },
               nullptr,
               [meeting = meeting_, message, me = rank(), to] {
                 meeting->wait_until_taken(me, to, *message);
               }});
  }
  void receive(void* to, std::int64_t count, NumberType type, int from, Stream stream) override {
    check_member(from);
    const std::size_t bytes = static_cast<std::size_t>(count) * bytes_of(type);
    require_on_device(to, bytes, "message that is received");
    make_call(
        {stream, meeting_, nullptr,
         [meeting = meeting_, me = rank(), from, to, bytes] { meeting->take(from, me, to, bytes); },
         nullptr});
  }

 private:
  void put(HostCall call, Stream stream) {
    const auto members = static_cast<std::int64_t>(size());
    const auto total = [](std::int64_t each, std::int64_t times,
                          const std::vector<std::int64_t>& counts) {
      return counts.empty() ? each * times : std::accumulate(counts.begin(), counts.end(), each);
    };
    const bool is_gather = call.kind == HostCallKind::all_gather;
    const bool is_scatter = call.kind == HostCallKind::reduce_scatter;
    const auto bytes = [&](std::int64_t count) {
      return static_cast<std::size_t>(count) * bytes_of(call.type);
    };
    require_on_device(call.from, bytes(total(call.count, is_scatter ? members : 1, call.sent)),
                      "collective's operand");
    require_on_device(call.to, bytes(total(call.count, is_gather ? members : 1, call.received)),
                      "collective's result");
    make_call(
        {stream, meeting_, nullptr,
         [meeting = meeting_, me = rank(), call = std::move(call)] { meeting->call(me, call); },
         nullptr});
  }

  const CommunicatorId id_;
  const CommunicatorOptions options_;
  const std::shared_ptr<HostMeeting> meeting_;
  std::uint64_t splits_ = 0;
};

}  // namespace

std::unique_ptr<DeviceCommunicator> DeviceCommunicator::make(const std::string& name,
                                                             const std::vector<int>& ranks,
                                                             int rank, const ShareId& share_id,
                                                             const CommunicatorOptions& options) {
  return std::make_unique<HostCommunicator>(name, ranks, rank, shared_id(ranks, rank, share_id),
                                            options);
}

CommunicatorId make_communicator_id() {
  static std::random_device random;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  CommunicatorId id;
  for (std::byte& byte : id.bytes) byte = static_cast<std::byte>(random() & 0xffU);
  return id;
}

CallGroup::CallGroup() {
  if (open_group.is_open) throw std::logic_error("A group of calls stands inside another one.");
  open_group.is_open = true;
}

void CallGroup::end() {
  if (!is_open_) return;
  is_open_ = false;
  const std::vector<StreamCall> calls = std::exchange(open_group, {}).calls;
  std::map<Stream, std::vector<StreamCall>> by_stream;
  for (const StreamCall& call : calls) by_stream[call.stream].push_back(call);
  for (const auto& [stream, of_stream] : by_stream) put_calls(of_stream);
}

std::string collectives_library() {
  return "threads, the CPU's double";
}

}  // namespace llmb::runner::cuda
