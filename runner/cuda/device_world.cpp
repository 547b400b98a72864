#include "runner/cuda/device_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "runner/cuda/collectives.h"
#include "runner/cuda/memory.h"
#include "runner/cuda/stream.h"
#include "runner/parallel/own_copies.h"

namespace llmb::runner::cuda {
namespace {

constexpr std::size_t kGreetings = 16;  // bytes; three of them are used

NumberType number_type_of(ElementType type) {
  switch (type) {
    case ElementType::float32:
      return NumberType::float32;
    case ElementType::float64:
      return NumberType::float64;
    case ElementType::bfloat16:
      return NumberType::bf16;
    case ElementType::int32:
      return NumberType::int32;
    case ElementType::int64:
      return NumberType::int64;
    case ElementType::byte:
      break;
  }
  return NumberType::byte;
}

std::int64_t count_of(const ConstBuffer& buffer) {
  return static_cast<std::int64_t>(buffer.count);
}
std::int64_t count_of(const Buffer& buffer) {
  return static_cast<std::int64_t>(buffer.count);
}

std::vector<std::int64_t> signed_counts(std::span<const std::size_t> counts) {
  return {counts.begin(), counts.end()};
}

// What both kinds of group do by way of the host.
class StreamGroup : public Communicator {
 public:
  StreamGroup(std::unique_ptr<Communicator> host, Stream stream)
      : Communicator(host->name(), host->ranks(), host->rank()),
        host_(std::move(host)),
        stream_(stream) {}

 protected:
  Communicator& host() { return *host_; }
  Stream stream() const { return stream_; }

 private:
  void do_barrier(const CallTag& tag) override {
    synchronize(stream_);
    host_->barrier(tag);
  }

  void do_send(ConstBuffer data, int to, const CallTag& tag) override {
    std::vector<std::byte> message(data.bytes());
    copy_async(message.data(), data.data, message.size(), CopyDirection::to_host, stream_);
    synchronize(stream_);
    host_->send(message, to, tag);
  }

  void do_recv(Buffer data, int from, const CallTag& tag) override {
    std::vector<std::byte> message(data.bytes());
    host_->recv(message, from, tag);
    copy_async(data.data, message.data(), message.size(), CopyDirection::to_device, stream_);
    synchronize(stream_);
  }

  std::unique_ptr<Communicator> host_;
  Stream stream_;
};

std::shared_ptr<DeviceCommunicator> join(Communicator& host, const CommunicatorOptions& options) {
  const auto share_id = [&host](const CommunicatorId* mine) {
    CommunicatorId id = mine ? *mine : CommunicatorId{};
    host.broadcast(std::span<std::byte>(id.bytes), 0, "device.communicator_id");
    return id;
  };
  return DeviceCommunicator::make(host.name(), host.ranks(), host.global_rank(), share_id, options);
}

class DeviceGroup final : public StreamGroup {
 public:
  DeviceGroup(std::unique_ptr<Communicator> host_group, Stream on_stream, DeviceProfile* profile,
              std::shared_ptr<DeviceCommunicator> device, std::shared_ptr<int> joined)
      : StreamGroup(std::move(host_group), on_stream),
        profile_(profile),
        device_(std::move(device)),
        joined_(std::move(joined)) {}

 private:
  // Counts what is put on the stream as long as it stands, where a profile is taken.
  class Counted {
   public:
    Counted(DeviceGroup& group, CollectiveKind kind, std::size_t bytes) {
      if (group.profile_ == nullptr) return;
      range_.emplace(*group.profile_, group.operation(kind), group.stream());
      group.profile_->add_work({.bytes = static_cast<double>(bytes)});
    }

   private:
    std::optional<OpRange> range_;
  };

  // As long as the group stands, and longer: a profile's ranges end with its stream.
  const char* operation(CollectiveKind kind) {
    std::string& name = operations_[kind];
    if (name.empty()) name = collective_operation(this->name(), kind);
    return name.c_str();
  }

  void do_all_reduce(Buffer data, ReduceOp op, const CallTag& /*tag*/) override {
    const Counted counted(
        *this,
        op == ReduceOp::sum ? CollectiveKind::all_reduce_sum : CollectiveKind::all_reduce_max,
        data.bytes());
    device_->all_reduce(data.data, data.data, count_of(data), number_type_of(data.type),
                        op == ReduceOp::sum ? Reduction::sum : Reduction::max, stream());
  }

  void do_all_gather(ConstBuffer mine, Buffer all, const CallTag& /*tag*/) override {
    const Counted counted(*this, CollectiveKind::all_gather, all.bytes());
    device_->all_gather(mine.data, all.data, count_of(mine), number_type_of(mine.type), stream());
  }

  void do_reduce_scatter(ConstBuffer all, Buffer mine, const CallTag& /*tag*/) override {
    const Counted counted(*this, CollectiveKind::reduce_scatter, all.bytes());
    device_->reduce_scatter(all.data, mine.data, count_of(mine), number_type_of(mine.type),
                            stream());
  }

  void do_all_to_all(ConstBuffer sent, std::span<const std::size_t> sent_counts, Buffer received,
                     std::span<const std::size_t> received_counts,
                     const CallTag& /*tag*/) override {
    const Counted counted(*this, CollectiveKind::all_to_all,
                          std::max(sent.bytes(), received.bytes()));
    device_->all_to_all(sent.data, signed_counts(sent_counts), received.data,
                        signed_counts(received_counts), number_type_of(sent.type), stream());
  }

  void do_broadcast(Buffer data, int root, const CallTag& /*tag*/) override {
    const Counted counted(*this, CollectiveKind::broadcast, data.bytes());
    device_->broadcast(data.data, count_of(data), number_type_of(data.type), root, stream());
  }

  // On first use NCCL connects two members, which takes both: so neighbours talk once, all
  // together.
  void do_open_exchanges(const CallTag& tag) override {
    Channel& channel = channels_[std::string(tag.name)];
    channel.operation = exchange_operation(name(), tag.name);
    channel.device =
        device_->split(fmt::format("{} {}", name(), tag.name), ranks(), CommunicatorUse::messages);
    ++*joined_;
    const DeviceMemory words(kGreetings);
    const int next = (rank() + 1) % size();
    const int before = (rank() + size() - 1) % size();
    CallGroup calls;
    channel.device->send(words.data(), 1, NumberType::byte, next, channel.stream);
    channel.device->send(words.data(), 1, NumberType::byte, before, channel.stream);
    channel.device->receive(words.data() + 1, 1, NumberType::byte, before, channel.stream);
    channel.device->receive(words.data() + 2, 1, NumberType::byte, next, channel.stream);
    calls.end();
    synchronize(channel.stream);
  }

  void do_begin_exchange(const std::optional<OutgoingMessage>& sent,
                         const std::optional<IncomingMessage>& received,
                         const CallTag& tag) override {
    Channel& channel = channels_.at(std::string(tag.name));
    order_streams(stream(), channel.stream);
    {
      std::optional<BesideRange> counted;
      count_exchange(channel, sent, received, counted);
      put_exchange(channel, sent, received);
    }
    channel.begun.push_back(channel.ended.empty() ? std::make_unique<Event>()
                                                  : std::move(channel.ended.back()));
    if (!channel.ended.empty()) channel.ended.pop_back();
    channel.begun.back()->record(channel.stream);
  }

  void do_end_exchange(const CallTag& tag) override {
    Channel& channel = channels_.at(std::string(tag.name));
    channel.begun.front()->wait_on(stream());
    channel.ended.push_back(std::move(channel.begun.front()));
    channel.begun.pop_front();
  }

  // Exchanges run beside the rank's stream, and those of one channel beside those of another.
  struct Channel {
    OwnedStream stream{StreamPriority::high};
    std::unique_ptr<DeviceCommunicator> device;
    std::string operation;  // in a profile
    std::deque<std::unique_ptr<Event>> begun;
    std::vector<std::unique_ptr<Event>> ended;  // to be used again
  };

  void count_exchange(const Channel& channel, const std::optional<OutgoingMessage>& sent,
                      const std::optional<IncomingMessage>& received,
                      std::optional<BesideRange>& range) {
    if (profile_ == nullptr || (!sent && !received)) return;
    const std::size_t bytes =
        (sent ? sent->data.bytes() : 0) + (received ? received->data.bytes() : 0);
    range.emplace(*profile_, channel.operation.c_str(),
                  cpu::OpWork{.bytes = static_cast<double>(bytes)}, channel.stream);
  }

  static void put_exchange(Channel& channel, const std::optional<OutgoingMessage>& sent,
                           const std::optional<IncomingMessage>& received) {
    CallGroup calls;
    if (sent) {
      channel.device->send(sent->data.data, count_of(sent->data), number_type_of(sent->data.type),
                           sent->to, channel.stream);
    }
    if (received) {
      channel.device->receive(received->data.data, count_of(received->data),
                              number_type_of(received->data.type), received->from, channel.stream);
    }
    calls.end();
  }

  DeviceProfile* profile_;
  std::map<CollectiveKind, std::string> operations_;
  std::shared_ptr<DeviceCommunicator> device_;
  std::shared_ptr<int> joined_;
  std::map<std::string, Channel> channels_;
};

// A group of one member, or of one that is there.
class LoneGroup final : public OwnCopies<StreamGroup> {
 public:
  using OwnCopies::OwnCopies;

 private:
  void copy_bytes(void* to, const void* from, std::size_t bytes) override {
    copy_async(to, from, bytes, CopyDirection::within_device, stream());
  }
  void clear_bytes(void* to, std::size_t bytes) override { fill_async(to, 0, bytes, stream()); }

  void do_begin_exchange(const std::optional<OutgoingMessage>& /*sent*/,
                         const std::optional<IncomingMessage>& received,
                         const CallTag& /*tag*/) override {
    if (received) clear_bytes(received->data.data, received->data.bytes());
  }
  void do_end_exchange(const CallTag& /*tag*/) override {}
};

}  // namespace

std::string collective_operation(const std::string& group, CollectiveKind kind) {
  return fmt::format("{}.{}", group, runner::name_of(kind));
}

std::string exchange_operation(const std::string& group, std::string_view tag) {
  return fmt::format("{}.{}", group, tag.substr(tag.find('.') + 1));
}

DeviceWorld::DeviceWorld(World& host, Stream stream, Peers peers, DeviceProfile* profile)
    : host_(host), stream_(stream), peers_(peers), profile_(profile) {}
DeviceWorld::~DeviceWorld() = default;

std::unique_ptr<Communicator> DeviceWorld::make_group(const std::string& name,
                                                      const std::vector<int>& ranks) {
  std::unique_ptr<Communicator> host = host_.make_group(name, ranks);
  if (peers_ == Peers::own_copies || ranks.size() == 1) {
    return std::make_unique<LoneGroup>(std::move(host), stream_);
  }
  std::shared_ptr<DeviceCommunicator> device = by_ranks_[ranks].lock();
  if (device) {
    device->add_name(name);
  } else {
    CommunicatorOptions options;
    options.who_is_gone = host_.failure_source();
    by_ranks_[ranks] = device = join(*host, options);
    ++*joined_;
  }
  return std::make_unique<DeviceGroup>(std::move(host), stream_, profile_, std::move(device),
                                       joined_);
}

std::unique_ptr<Communicator> DeviceWorld::make_host_group() {
  return host_.make_group_of_all("host");
}

}  // namespace llmb::runner::cuda
