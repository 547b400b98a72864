#include "runner/schedule/simulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace llmb::runner {
namespace {

struct MessageUnderway {
  int micro_batch = 0;
  int part = 0;  // of the model, that it is for
  double arrives_at_s = 0;
};

// Activations and gradients have channels of their own, as they have tags in the communicator.
using Channel = std::tuple<int, int, bool>;  // from, to, is a gradient

class Simulation {
 public:
  Simulation(const PipelineShape& shape, const std::vector<std::vector<Task>>& lists,
             const TaskCosts& costs)
      : shape_(shape),
        lists_(lists),
        costs_(costs),
        next_(lists.size(), 0),
        clock_s_(lists.size(), 0),
        done_(lists.size()) {
    report_.activations_in_flight_max.assign(lists.size(), 0);
  }

  SimulationReport run() {
    bool moved = true;
    while (moved && report_.problem.empty()) {
      moved = false;
      for (std::size_t stage = 0; stage < lists_.size(); ++stage) {
        while (report_.problem.empty() && next_[stage] < lists_[stage].size() &&
               advance(stage, lists_[stage][next_[stage]])) {
          ++next_[stage];
          moved = true;
        }
      }
    }
    if (report_.problem.empty()) judge_end();
    measure();
    return std::move(report_);
  }

 private:
  using Pass = std::pair<int, int>;  // micro-batch, chunk
  struct Done {
    std::map<Pass, int> forwards;
    std::map<Pass, int> backwards;
  };

  int part_of(std::size_t stage, int chunk) const {
    return chunk * shape_.stages + static_cast<int>(stage);
  }

  void complain(std::size_t stage, const Task& task, const std::string& what) {
    report_.problem = fmt::format("stage {}, {}: {}", stage, task.str(), what);
  }

  // False where the task has to wait for a message.
  bool advance(std::size_t stage, const Task& task) {
    switch (task.kind) {
      case TaskKind::forward:
      case TaskKind::backward:
        compute(stage, task);
        return true;
      case TaskKind::send_activation:
        send(stage, task, false, part_of(stage, task.chunk) + 1);
        return true;
      case TaskKind::send_gradient:
        send(stage, task, true, part_of(stage, task.chunk) - 1);
        return true;
      case TaskKind::receive_activation:
        return receive(stage, task, false);
      case TaskKind::receive_gradient:
        return receive(stage, task, true);
    }
    return false;
  }

  void compute(std::size_t stage, const Task& task) {
    Done& done = done_[stage];
    const Pass pass{task.micro_batch, task.chunk};
    const int part = part_of(stage, task.chunk);
    const int last_part = shape_.stages * shape_.chunks - 1;
    if (task.kind == TaskKind::forward) {
      if (++done.forwards[pass] > 1) return complain(stage, task, "done twice");
      if (part > 0 && !take(stage, pass, false)) return complain(stage, task, "has no input");
      clock_s_[stage] += costs_.forward_s;
      const auto held =
          static_cast<int>(done.forwards.size()) - static_cast<int>(done.backwards.size());
      int& most = report_.activations_in_flight_max[stage];
      most = std::max(most, held);
      return;
    }
    if (!done.forwards.contains(pass)) return complain(stage, task, "comes before its forward");
    if (++done.backwards[pass] > 1) return complain(stage, task, "done twice");
    if (part < last_part && !take(stage, pass, true)) return complain(stage, task, "has no input");
    clock_s_[stage] += costs_.backward_s;
  }

  void send(std::size_t stage, const Task& task, bool is_gradient, int to_part) {
    const Pass pass{task.micro_batch, task.chunk};
    const Done& done = done_[stage];
    if (!(is_gradient ? done.backwards : done.forwards).contains(pass)) {
      return complain(stage, task, "sends what is not computed yet");
    }
    auto& channel = channels_[{static_cast<int>(stage), task.peer, is_gradient}];
    channel.push_back({task.micro_batch, to_part, clock_s_[stage] + costs_.transfer_s});
    report_.messages_in_flight_max =
        std::max(report_.messages_in_flight_max, static_cast<int>(channel.size()));
  }

  bool receive(std::size_t stage, const Task& task, bool is_gradient) {
    auto& channel = channels_[{task.peer, static_cast<int>(stage), is_gradient}];
    if (channel.empty()) return false;
    const MessageUnderway message = channel.front();
    channel.pop_front();
    if (message.micro_batch != task.micro_batch || message.part != part_of(stage, task.chunk)) {
      complain(stage, task,
               fmt::format("what comes next is micro-batch {} for part {}", message.micro_batch,
                           message.part));
      return true;
    }
    clock_s_[stage] = std::max(clock_s_[stage], message.arrives_at_s);
    received_.insert({stage, {task.micro_batch, task.chunk}, is_gradient});
    return true;
  }

  bool take(std::size_t stage, const Pass& pass, bool is_gradient) {
    return received_.erase({stage, pass, is_gradient}) > 0;
  }

  void judge_end() {
    for (std::size_t stage = 0; stage < lists_.size(); ++stage) {
      if (next_[stage] < lists_[stage].size()) {
        return complain(stage, lists_[stage][next_[stage]], "waits for ever");
      }
    }
    const auto passes =
        static_cast<std::size_t>(shape_.micro_batches) * static_cast<std::size_t>(shape_.chunks);
    for (std::size_t stage = 0; stage < lists_.size(); ++stage) {
      if (done_[stage].forwards.size() != passes || done_[stage].backwards.size() != passes) {
        report_.problem = fmt::format("stage {} leaves work undone", stage);
        return;
      }
    }
    for (const auto& [channel, messages] : channels_) {
      if (messages.empty()) continue;
      report_.problem = fmt::format("stage {} never receives {} messages of stage {}",
                                    std::get<1>(channel), messages.size(), std::get<0>(channel));
    }
    if (report_.problem.empty() && !received_.empty())
      report_.problem = "a received message is never used";
  }

  void measure() {
    report_.step_time_s = *std::max_element(clock_s_.begin(), clock_s_.end());
    double busy_s = 0;
    for (const Done& done : done_) {
      busy_s += static_cast<double>(done.forwards.size()) * costs_.forward_s +
                static_cast<double>(done.backwards.size()) * costs_.backward_s;
    }
    const double all_s = report_.step_time_s * static_cast<double>(lists_.size());
    if (all_s > 0) report_.bubble_fraction = 1 - busy_s / all_s;
  }

  PipelineShape shape_;
  const std::vector<std::vector<Task>>& lists_;
  TaskCosts costs_;
  std::vector<std::size_t> next_;
  std::vector<double> clock_s_;
  std::vector<Done> done_;
  std::map<Channel, std::deque<MessageUnderway>> channels_;
  std::set<std::tuple<std::size_t, Pass, bool>> received_;
  SimulationReport report_;
};

}  // namespace

SimulationReport simulate(const PipelineShape& shape, const std::vector<std::vector<Task>>& lists,
                          const TaskCosts& costs) {
  return Simulation(shape, lists, costs).run();
}

SimulationReport simulate(const PipelineShape& shape, const TaskCosts& costs) {
  std::vector<std::vector<Task>> lists;
  lists.reserve(static_cast<std::size_t>(shape.stages));
  for (int stage = 0; stage < shape.stages; ++stage) lists.push_back(make_task_list(shape, stage));
  return simulate(shape, lists, costs);
}

}  // namespace llmb::runner
