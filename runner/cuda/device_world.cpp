#include "runner/cuda/device_world.h"

#include <span>
#include <utility>

#include "runner/cuda/collectives.h"
#include "runner/cuda/memory.h"
#include "runner/cuda/stream.h"

namespace llmb::runner::cuda {
namespace {

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

// A group of one has nothing to say to others, and no communicator.
class DeviceGroup final : public Communicator {
 public:
  DeviceGroup(std::unique_ptr<Communicator> host, Stream stream)
      : Communicator(host->name(), host->ranks(), host->rank()),
        host_(std::move(host)),
        stream_(stream) {
    if (size() == 1) return;
    const auto share_id = [this](const CommunicatorId* mine) {
      CommunicatorId id = mine ? *mine : CommunicatorId{};
      host_->broadcast(std::span<std::byte>(id.bytes), 0, "device.communicator_id");
      return id;
    };
    device_ = DeviceCommunicator::make(name(), ranks(), global_rank(), share_id);
  }

 private:
  void do_all_reduce(Buffer data, ReduceOp op, const CallTag& /*tag*/) override {
    if (!device_) return;
    device_->all_reduce(data.data, data.data, count_of(data), number_type_of(data.type),
                        op == ReduceOp::sum ? Reduction::sum : Reduction::max, stream_);
  }

  void do_all_gather(ConstBuffer mine, Buffer all, const CallTag& /*tag*/) override {
    if (!device_) return copy(mine, all);
    device_->all_gather(mine.data, all.data, count_of(mine), number_type_of(mine.type), stream_);
  }

  void do_reduce_scatter(ConstBuffer all, Buffer mine, const CallTag& /*tag*/) override {
    if (!device_) return copy(all, mine);
    device_->reduce_scatter(all.data, mine.data, count_of(mine), number_type_of(mine.type),
                            stream_);
  }

  void do_all_to_all(ConstBuffer sent, std::span<const std::size_t> sent_counts, Buffer received,
                     std::span<const std::size_t> received_counts,
                     const CallTag& /*tag*/) override {
    if (!device_) return copy(sent, received);
    device_->all_to_all(sent.data, signed_counts(sent_counts), received.data,
                        signed_counts(received_counts), number_type_of(sent.type), stream_);
  }

  void do_broadcast(Buffer data, int root, const CallTag& /*tag*/) override {
    if (!device_) return;
    device_->broadcast(data.data, count_of(data), number_type_of(data.type), root, stream_);
  }

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

  void copy(const ConstBuffer& from, const Buffer& to) const {
    if (from.data == to.data) return;
    copy_async(to.data, from.data, from.bytes(), CopyDirection::within_device, stream_);
  }

  std::unique_ptr<Communicator> host_;
  Stream stream_;
  std::unique_ptr<DeviceCommunicator> device_;
};

}  // namespace

DeviceWorld::DeviceWorld(World& host, Stream stream) : host_(host), stream_(stream) {}
DeviceWorld::~DeviceWorld() = default;

std::unique_ptr<Communicator> DeviceWorld::make_group(const std::string& name,
                                                      const std::vector<int>& ranks) {
  return std::make_unique<DeviceGroup>(host_.make_group(name, ranks), stream_);
}

std::unique_ptr<Communicator> DeviceWorld::make_host_group() {
  std::vector<int> ranks;
  for (int rank = 0; rank < size(); ++rank) ranks.push_back(rank);
  return host_.make_group("host", ranks);
}

}  // namespace llmb::runner::cuda
