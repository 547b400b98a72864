#include "runner/schedule/task_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace llmb::runner {
namespace {

struct Work {
  int micro_batch = 0;
  int chunk = 0;
};

// Micro-batches go through the chunks in groups, so that a stage turns to its next chunk when the
// first of the group has come around all stages. A group is as large as the pipeline is deep; what
// is left over joins the last group, because a smaller one would wait for itself.
struct Groups {
  explicit Groups(const PipelineShape& shape)
      : count(std::max(1, shape.micro_batches / shape.stages)), shape_(shape) {}

  int size(int group) const {
    if (shape_.micro_batches < shape_.stages) return shape_.micro_batches;
    const bool is_last = group == count - 1;
    return shape_.stages + (is_last ? shape_.micro_batches % shape_.stages : 0);
  }
  int size_max() const { return size(count - 1); }

  int count;

 private:
  PipelineShape shape_;
};

// The order in which every stage does its forwards. Backwards go through the chunks in reverse.
std::vector<Work> work_order(const PipelineShape& shape, bool is_backward) {
  const Groups groups(shape);
  std::vector<Work> order;
  int first = 0;
  for (int group = 0; group < groups.count; ++group) {
    for (int i = 0; i < shape.chunks; ++i) {
      const int chunk = is_backward ? shape.chunks - 1 - i : i;
      for (int k = 0; k < groups.size(group); ++k) order.push_back({first + k, chunk});
    }
    first += groups.size(group);
  }
  return order;
}

// Forwards before the first backward.
int warm_up_count(const PipelineShape& shape, int stage) {
  const int all = shape.micro_batches * shape.chunks;
  const int behind = shape.stages - 1 - stage;
  if (shape.chunks == 1) return std::min(all, behind);
  // Fewer micro-batches than stages: the chunks cannot overlap, so all forwards come first.
  if (shape.micro_batches < shape.stages) return all;
  return std::min(all, 2 * behind + (shape.chunks - 1) * Groups(shape).size_max());
}

class ListBuilder {
 public:
  ListBuilder(const PipelineShape& shape, int stage) : shape_(shape), stage_(stage) {}

  void add_forward(const Work& work) {
    const int part = part_of(work);
    if (part > 0) add(TaskKind::receive_activation, work, part - 1);
    add(TaskKind::forward, work);
    if (part + 1 < parts()) add(TaskKind::send_activation, work, part + 1);
  }

  void add_backward(const Work& work) {
    const int part = part_of(work);
    if (part + 1 < parts()) add(TaskKind::receive_gradient, work, part + 1);
    add(TaskKind::backward, work);
    if (part > 0) add(TaskKind::send_gradient, work, part - 1);
  }

  std::vector<Task> take() { return std::move(tasks_); }

 private:
  int parts() const { return shape_.stages * shape_.chunks; }
  int part_of(const Work& work) const { return work.chunk * shape_.stages + stage_; }

  void add(TaskKind kind, const Work& work) {
    tasks_.push_back({kind, work.micro_batch, work.chunk, -1});
  }
  void add(TaskKind kind, const Work& work, int other_part) {
    tasks_.push_back({kind, work.micro_batch, work.chunk, other_part % shape_.stages});
  }

  PipelineShape shape_;
  int stage_;
  std::vector<Task> tasks_;
};

}  // namespace

const char* task_kind_name(TaskKind kind) {
  switch (kind) {
    case TaskKind::receive_activation:
      return "receive_activation";
    case TaskKind::forward:
      return "forward";
    case TaskKind::send_activation:
      return "send_activation";
    case TaskKind::receive_gradient:
      return "receive_gradient";
    case TaskKind::backward:
      return "backward";
    case TaskKind::send_gradient:
      return "send_gradient";
  }
  return "unknown task";
}

std::string Task::str() const {
  std::string text = fmt::format("{} {}.{}", task_kind_name(kind), micro_batch, chunk);
  const bool is_receive =
      kind == TaskKind::receive_activation || kind == TaskKind::receive_gradient;
  if (peer >= 0) text += fmt::format("{}{}", is_receive ? " <- " : " -> ", peer);
  return text;
}

std::vector<Task> make_task_list(const PipelineShape& shape, int stage) {
  if (shape.stages < 1 || shape.chunks < 1 || shape.micro_batches < 1 || stage < 0 ||
      stage >= shape.stages) {
    throw std::invalid_argument(
        fmt::format("no pipeline has stage {} of {}, {} chunks and {} micro-batches", stage,
                    shape.stages, shape.chunks, shape.micro_batches));
  }
  const std::vector<Work> forwards = work_order(shape, false);
  const std::vector<Work> backwards = work_order(shape, true);
  const auto warm_up = static_cast<std::size_t>(warm_up_count(shape, stage));
  ListBuilder list(shape, stage);
  for (std::size_t i = 0; i < warm_up; ++i) list.add_forward(forwards[i]);
  for (std::size_t i = warm_up; i < forwards.size(); ++i) {
    list.add_forward(forwards[i]);
    list.add_backward(backwards[i - warm_up]);
  }
  for (std::size_t i = forwards.size() - warm_up; i < backwards.size(); ++i) {
    list.add_backward(backwards[i]);
  }
  return list.take();
}

int activations_in_flight(const std::vector<Task>& tasks) {
  int now = 0;
  int most = 0;
  for (const Task& task : tasks) {
    if (task.kind == TaskKind::forward) most = std::max(most, ++now);
    if (task.kind == TaskKind::backward) --now;
  }
  return most;
}

int activation_bound(const PipelineShape& shape, int stage) {
  const int all = shape.micro_batches * shape.chunks;
  const int behind = shape.stages - 1 - stage;
  if (shape.chunks == 1) return std::min(all, behind + 1);
  // A group is at most 2 pp - 1 micro-batches; pp where the stages divide the micro-batches.
  const int group = shape.stages + shape.micro_batches % shape.stages;
  return std::min(all, 2 * behind + (shape.chunks - 1) * group + 1);
}

double ideal_bubble_fraction(const PipelineShape& shape) {
  const double idle = shape.stages - 1;
  return idle / (static_cast<double>(shape.chunks) * shape.micro_batches + idle);
}

}  // namespace llmb::runner
