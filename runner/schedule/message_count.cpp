#include "runner/schedule/message_count.h"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>

#include "runner/schedule/rendezvous.h"

namespace llmb::runner {
namespace {

struct Lane {
  std::vector<Exchange> exchanges;
  std::size_t begun = 0;
  std::deque<int> sent{};  // messages of each exchange that has not ended
  int received = 0;        // or to be received
};

class MessageCount {
 public:
  MessageCount(const PipelineShape& shape, const std::vector<Task>& tasks)
      : in_flight_max_(exchanges_in_flight_max(shape)),
        lanes_{Lane{exchanges_of(tasks, Direction::activations)},
               Lane{exchanges_of(tasks, Direction::gradients)}} {
    begin_after(std::nullopt);
  }

  // Messages while the next pass is at work.
  int during(const Task& pass, bool receives, bool sends) {
    Lane& lane = lanes_[pass.kind == TaskKind::forward ? 0 : 1];
    if (receives) {
      lane.sent.clear();
      --lane.received;
    }
    const int own = (receives ? 1 : 0) + (sends ? 1 : 0);
    const int count = lanes_[0].received + sent(lanes_[0]) + lanes_[1].received + sent(lanes_[1]);
    begin_after(pass);
    return count + own;
  }

 private:
  static int sent(const Lane& lane) {
    int count = 0;
    for (const int messages : lane.sent) count += messages;
    return count;
  }

  void begin_after(const std::optional<Task>& pass) {
    for (Lane& lane : lanes_) {
      if (lane.begun == lane.exchanges.size()) continue;
      const Exchange& exchange = lane.exchanges[lane.begun];
      if (exchange.after != pass) continue;
      ++lane.begun;
      if (lane.sent.size() == in_flight_max_) lane.sent.pop_front();
      lane.sent.push_back(exchange.send ? 1 : 0);
      if (exchange.receive) ++lane.received;
    }
  }

  std::size_t in_flight_max_;
  std::array<Lane, 2> lanes_;
};

}  // namespace

std::size_t exchanges_in_flight_max(const PipelineShape& shape) {
  return static_cast<std::size_t>(activation_bound(shape, 0)) + 1;
}

int messages_at_once_max(const PipelineShape& shape, const std::vector<Task>& tasks) {
  MessageCount count(shape, tasks);
  int most = 0;
  // A pass stands between the messages that it needs and leaves.
  const auto is_there = [&](std::size_t index, TaskKind kind) {
    return index < tasks.size() && tasks[index].kind == kind;
  };
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (is_there(i, TaskKind::forward)) {
      most = std::max(most, count.during(tasks[i], is_there(i - 1, TaskKind::receive_activation),
                                         is_there(i + 1, TaskKind::send_activation)));
    } else if (is_there(i, TaskKind::backward)) {
      most = std::max(most, count.during(tasks[i], is_there(i - 1, TaskKind::receive_gradient),
                                         is_there(i + 1, TaskKind::send_gradient)));
    }
  }
  return most;
}

}  // namespace llmb::runner
