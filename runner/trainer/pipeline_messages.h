// PipelineMessages: what the passes of one stage leave for its neighbours and need from them, as
// the exchanges of schedule/rendezvous.h: each begins when the pass that it comes after is done,
// and a pass waits for its own. It knows nothing of what a pass computes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "runner/parallel/communicator.h"
#include "runner/schedule/message_count.h"
#include "runner/schedule/rendezvous.h"
#include "runner/schedule/task_list.h"

namespace llmb::runner {

// Used by the rank's thread.
template <typename Backend>
class PipelineMessages {
 public:
  using Message = typename Backend::template Array<typename Backend::Value>;
  using Ops = typename Backend::Ops;

  // `tasks` is the list of this member of `pipeline`, a group of shape.stages members, and
  // `elements_of` says how large the messages of a chunk are. All members make theirs together.
  // `ops` and `pipeline` outlive it.
  PipelineMessages(Ops& ops, Communicator& pipeline, const PipelineShape& shape,
                   const std::vector<Task>& tasks,
                   std::function<std::int64_t(int chunk)> elements_of)
      : ops_(ops),
        pipeline_(pipeline),
        elements_of_(std::move(elements_of)),
        in_flight_max_(exchanges_in_flight_max(shape)) {
    for (Lane& lane : lanes_) {
      lane.exchanges = exchanges_of(tasks, lane.direction);
      if (shape.stages > 1) pipeline_.open_exchanges(lane.tag);
    }
  }

  void begin_step() {
    for (Lane& lane : lanes_) {
      lane.begun = lane.ended = 0;
      begin_after(lane, std::nullopt);
    }
  }

  // Room for a message. Where passes keep their places, messages do, too.
  Message take(std::int64_t elements) {
    if (elements == 0 || spare_.empty()) return Message(ops_, elements);
    Message message = std::move(spare_.back());
    spare_.pop_back();
    message.resize(ops_, elements);
    return message;
  }
  void give_back(Message message) {
    if (message.size() > 0 && ops_.keeps_places()) spare_.push_back(std::move(message));
  }

  // What `pass` works on; empty where no message is for it.
  Message input_of(Direction direction, const Task& pass) {
    Lane& lane = lane_of(direction);
    const auto message = lane.received.find(place_of(pass));
    if (message == lane.received.end()) return {};
    while (lane.ended < lane.begun) end_oldest(lane);
    Message input = std::move(message->second);
    lane.received.erase(message);
    return input;
  }

  // `pass` is done, and has left `output`, empty where it is for nobody.
  void passed(Direction direction, const Task& pass, Message output) {
    const bool is_for_somebody = output.size() > 0;
    Lane& own = lane_of(direction);
    own.output = std::move(output);
    const std::size_t next = own.begun;
    for (Lane& lane : lanes_) begin_after(lane, pass);
    if (is_for_somebody && (own.begun == next || !sends(own.exchanges[next], pass))) {
      throw std::logic_error("no exchange sends what " + pass.str() + " has left");
    }
  }

  // Every message is where it belongs.
  void end_step() {
    for (Lane& lane : lanes_) {
      while (lane.ended < lane.begun) end_oldest(lane);
    }
  }

 private:
  using Place = std::pair<int, int>;  // micro-batch, chunk

  struct Lane {
    Direction direction;
    CallTag tag;
    std::vector<Exchange> exchanges{};
    std::size_t begun = 0;
    std::size_t ended = 0;
    Message output{};                     // of the pass that was done last
    std::deque<Message> sent{};           // of the exchanges that have not ended
    std::map<Place, Message> received{};  // or to be received
  };

  static Place place_of(const Task& task) { return {task.micro_batch, task.chunk}; }
  static bool sends(const Exchange& exchange, const Task& pass) {
    return exchange.send && place_of(*exchange.send) == place_of(pass);
  }
  Lane& lane_of(Direction direction) { return lanes_[direction == Direction::activations ? 0 : 1]; }

  // The exchange that comes after `pass`, if this is one.
  void begin_after(Lane& lane, const std::optional<Task>& pass) {
    if (lane.begun == lane.exchanges.size() || lane.exchanges[lane.begun].after != pass) return;
    begin_next(lane);
  }

  void begin_next(Lane& lane) {
    while (lane.begun - lane.ended >= in_flight_max_) end_oldest(lane);
    const Exchange& exchange = lane.exchanges[lane.begun++];
    std::optional<OutgoingMessage> outgoing;
    std::optional<IncomingMessage> incoming;
    Message& sent = lane.sent.emplace_back();
    if (exchange.send) {
      sent = std::move(lane.output);
      outgoing.emplace(OutgoingMessage{sent.values(), exchange.send->peer});
    }
    if (exchange.receive) {
      Message& into = lane.received[place_of(*exchange.receive)];
      into = take(elements_of_(exchange.receive->chunk));
      incoming.emplace(IncomingMessage{into.values(), exchange.receive->peer});
    }
    pipeline_.begin_exchange(outgoing, incoming, lane.tag);
  }

  void end_oldest(Lane& lane) {
    pipeline_.end_exchange(lane.tag);
    give_back(std::move(lane.sent.front()));
    lane.sent.pop_front();
    ++lane.ended;
  }

  Ops& ops_;
  Communicator& pipeline_;
  std::function<std::int64_t(int chunk)> elements_of_;
  std::size_t in_flight_max_;
  std::vector<Message> spare_;
  std::array<Lane, 2> lanes_{Lane{Direction::activations, "pp.activation"},
                             Lane{Direction::gradients, "pp.gradient"}};
};

}  // namespace llmb::runner
