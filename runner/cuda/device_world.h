// DeviceWorld: the ranks of a run, whose groups talk about device memory: collectives by
// DeviceCommunicator (NCCL, or its double) on the rank's stream, exchanges likewise on streams
// beside it, what the host says by the world that was there before. A buffered message (send, recv)
// goes by way of the host too, because a send on a stream waits for its receiver.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runner/cuda/device_profile.h"
#include "runner/kernels/stream.h"
#include "runner/parallel/communicator.h"

namespace llmb::runner::cuda {

class DeviceCommunicator;

// Whom a group talks to: the other members, or nobody, for one rank of a layout that runs alone and
// has copies of its own data in the place of theirs.
enum class Peers { others, own_copies };

// As a profile calls a group's collective: "tensor.all_gather".
std::string collective_operation(const std::string& group, CollectiveKind kind);

// And its exchanges with this tag, in both directions: "pipeline.activation" of "pp.activation".
std::string exchange_operation(const std::string& group, std::string_view tag);

class DeviceWorld final : public World {
 public:
  // Used by the thread that chose the device; `host` outlives it, and so do the stream and, where
  // it is given, the profile, which collectives between devices are operations of: with the bytes
  // of the larger of a call's two buffers; of exchanges, which run beside the stream, those of both
  // messages.
  DeviceWorld(World& host, kernels::Stream stream, Peers peers = Peers::others,
              DeviceProfile* profile = nullptr);
  ~DeviceWorld() override;

  int rank() const override { return host_.rank(); }
  int size() const override { return host_.size(); }
  // Waits for the other members, who come from their own calls. Groups of the same ranks talk by
  // one communicator, for each takes memory of the device (128 MiB is planned; users tell of up to
  // 0.7 GB): their calls are on one stream, in whose order they follow each other anyway.
  std::unique_ptr<Communicator> make_group(const std::string& name,
                                           const std::vector<int>& ranks) override;
  std::unique_ptr<Communicator> make_host_group() override;
  void abort(const std::string& reason) override { host_.abort(reason); }
  // So far, by groups and by a pipeline's directions.
  int communicators_joined() const { return *joined_; }

 private:
  World& host_;
  kernels::Stream stream_;
  Peers peers_;
  DeviceProfile* profile_;
  std::map<std::vector<int>, std::weak_ptr<DeviceCommunicator>> by_ranks_;
  std::shared_ptr<int> joined_ = std::make_shared<int>(0);  // groups count there, too
};

}  // namespace llmb::runner::cuda
