#include "runner/schedule/rendezvous.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace llmb::runner {
namespace {

bool is_pass(const Task& task) {
  return task.kind == TaskKind::forward || task.kind == TaskKind::backward;
}
bool is_send(const Task& task) {
  return task.kind == TaskKind::send_activation || task.kind == TaskKind::send_gradient;
}
Direction direction_of(const Task& task) {
  const bool is_forward = task.kind == TaskKind::forward ||
                          task.kind == TaskKind::send_activation ||
                          task.kind == TaskKind::receive_activation;
  return is_forward ? Direction::activations : Direction::gradients;
}

// A message, the same at both ends: direction, micro-batch, and the model's part that it is for.
using Message = std::tuple<Direction, int, int>;
// A pass of one stage: direction, micro-batch, chunk.
using Pass = std::tuple<Direction, int, int>;

Pass pass_of(const Task& task) {
  return {direction_of(task), task.micro_batch, task.chunk};
}

// A message at the end of one stage.
struct End {
  int peer = -1;
  bool is_send = false;
  Message message;
  // NOLINTNEXTLINE(modernize-use-nullptr): of the comparison that the compiler writes
  auto operator<=>(const End&) const = default;
};

// Messages that are posted together, and the pass that must be done before.
struct Post {
  std::vector<End> ends;
  std::optional<Pass> after;
};

// What one stage does: its passes in order, and streams of posts beside them. Without streams the
// messages stand between the passes.
struct Stage {
  std::vector<Task> tasks;
  std::vector<std::vector<Post>> streams;
  std::size_t next_task = 0;
  std::vector<std::size_t> next_post;
  std::set<End> ended;
  std::set<Pass> passed;
  std::set<std::pair<Direction, int>> loaded;  // chunks, by the direction of their passes
};

class Rendezvous {
 public:
  Rendezvous(const PipelineShape& shape, const std::vector<std::vector<Task>>& lists,
             MessageOrder order, KernelLoading loading)
      : shape_(shape), loading_(loading) {
    for (std::size_t index = 0; index < lists.size(); ++index) {
      stages_.push_back(make_stage(static_cast<int>(index), lists[index], order));
    }
  }

  std::string run() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (int stage = 0; stage < static_cast<int>(stages_.size()); ++stage) {
        moved = advance_tasks(stage) || moved;
        moved = advance_posts(stage) || moved;
      }
    }
    return problem();
  }

 private:
  Stage& at(int stage) { return stages_[static_cast<std::size_t>(stage)]; }

  End end_of(int stage, const Task& task) const {
    const int part = task.chunk * shape_.stages + stage;
    const int step = direction_of(task) == Direction::activations ? 1 : -1;
    const int to_part = is_send(task) ? part + step : part;
    return {task.peer, is_send(task), {direction_of(task), task.micro_batch, to_part}};
  }

  Stage make_stage(int index, const std::vector<Task>& list, MessageOrder order) const {
    Stage stage;
    stage.tasks = list;
    if (order == MessageOrder::exchanges) {
      for (const Direction direction : {Direction::activations, Direction::gradients}) {
        std::vector<Post>& stream = stage.streams.emplace_back();
        for (const Exchange& exchange : exchanges_of(list, direction)) {
          Post& post = stream.emplace_back();
          if (exchange.after) post.after = pass_of(*exchange.after);
          if (exchange.send) post.ends.push_back(end_of(index, *exchange.send));
          if (exchange.receive) post.ends.push_back(end_of(index, *exchange.receive));
        }
      }
      std::erase_if(stage.tasks, [](const Task& task) { return !is_pass(task); });
    }
    stage.next_post.assign(stage.streams.size(), 0);
    return stage;
  }

  static bool has_begun(const Stage& stage, const Post& post) {
    return !post.after || stage.passed.contains(*post.after);
  }

  // What a stage has posted and waits for just now.
  std::vector<End> posted(int index) {
    Stage& stage = at(index);
    std::vector<End> ends;
    for (std::size_t i = 0; i < stage.streams.size(); ++i) {
      if (stage.next_post[i] == stage.streams[i].size()) continue;
      const Post& post = stage.streams[i][stage.next_post[i]];
      if (!has_begun(stage, post)) continue;
      ends.insert(ends.end(), post.ends.begin(), post.ends.end());
    }
    if (stage.next_task < stage.tasks.size() && !is_pass(stage.tasks[stage.next_task])) {
      ends.push_back(end_of(index, stage.tasks[stage.next_task]));
    }
    return ends;
  }

  // A message ends at both ends at once, when both have posted it.
  bool meet(int index, const End& own) {
    if (at(index).ended.contains(own)) return false;
    const End other{index, !own.is_send, own.message};
    const std::vector<End> theirs = posted(own.peer);
    if (std::find(theirs.begin(), theirs.end(), other) == theirs.end()) return false;
    at(index).ended.insert(own);
    at(own.peer).ended.insert(other);
    return true;
  }

  static bool has_ended(const Stage& stage, const Post& post) {
    return std::all_of(post.ends.begin(), post.ends.end(),
                       [&](const End& end) { return stage.ended.contains(end); });
  }

  // Whether the kernels of a pass are there, or can be loaded now.
  bool has_kernels(const Stage& stage, const Task& pass) const {
    if (loading_ == KernelLoading::before_the_step) return true;
    if (stage.loaded.contains({direction_of(pass), pass.chunk})) return true;
    for (const std::vector<Post>& stream : stage.streams) {
      for (const Post& post : stream) {
        if (has_begun(stage, post) && !has_ended(stage, post)) return false;
      }
    }
    return true;
  }

  // The exchange with the message that a pass needs, if the list has one for it.
  bool has_input(int index, const Task& pass) {
    const Stage& stage = at(index);
    for (const std::vector<Post>& stream : stage.streams) {
      for (const Post& post : stream) {
        for (const End& end : post.ends) {
          const int part = pass.chunk * shape_.stages + index;
          const Message wanted{direction_of(pass), pass.micro_batch, part};
          if (!end.is_send && end.message == wanted) return has_ended(stage, post);
        }
      }
    }
    return true;
  }

  bool advance_tasks(int index) {
    Stage& stage = at(index);
    bool moved = false;
    for (; stage.next_task < stage.tasks.size(); ++stage.next_task, moved = true) {
      const Task& task = stage.tasks[stage.next_task];
      if (is_pass(task)) {
        if (!has_input(index, task) || !has_kernels(stage, task)) break;
        stage.passed.insert(pass_of(task));
        stage.loaded.insert({direction_of(task), task.chunk});
        continue;
      }
      const End end = end_of(index, task);
      meet(index, end);
      if (!stage.ended.contains(end)) break;
    }
    return moved;
  }

  bool advance_posts(int index) {
    Stage& stage = at(index);
    bool moved = false;
    for (const End& end : posted(index)) moved = meet(index, end) || moved;
    for (std::size_t i = 0; i < stage.streams.size(); ++i) {
      if (stage.next_post[i] == stage.streams[i].size()) continue;
      if (!has_ended(stage, stage.streams[i][stage.next_post[i]])) continue;
      ++stage.next_post[i];
      moved = true;
    }
    return moved;
  }

  std::string problem() {
    std::vector<std::string> waiting;
    for (int index = 0; index < static_cast<int>(stages_.size()); ++index) {
      const Stage& stage = at(index);
      if (stage.next_task < stage.tasks.size()) {
        waiting.push_back(fmt::format("stage {} at {}", index, stage.tasks[stage.next_task].str()));
      } else if (!posted(index).empty()) {
        waiting.push_back(fmt::format("stage {} at its last messages", index));
      }
    }
    if (waiting.empty()) return "";
    return fmt::format("wait for each other for ever: {}", fmt::join(waiting, "; "));
  }

  PipelineShape shape_;
  KernelLoading loading_;
  std::vector<Stage> stages_;
};

}  // namespace

std::vector<Exchange> exchanges_of(const std::vector<Task>& tasks, Direction direction) {
  std::vector<Exchange> exchanges;
  std::optional<Task> left_behind;
  std::optional<Task> before;  // the last pass of this direction; until there is one, of any
  const auto post = [&](const std::optional<Task>& receive) {
    if (left_behind || receive) exchanges.push_back({left_behind, receive, before});
    left_behind.reset();
  };
  for (const Task& task : tasks) {
    if (direction_of(task) != direction) {
      const bool is_before_all = !before || direction_of(*before) != direction;
      if (is_pass(task) && is_before_all) before = task;
      continue;
    }
    if (is_send(task)) {
      left_behind = task;
    } else if (is_pass(task)) {
      post({});  // a pass that receives nothing: its message was not posted before it
      before = task;
    } else {
      post(task);
    }
  }
  post({});
  return exchanges;
}

std::string rendezvous_problem(const PipelineShape& shape,
                               const std::vector<std::vector<Task>>& lists, MessageOrder order,
                               KernelLoading loading) {
  return Rendezvous(shape, lists, order, loading).run();
}

}  // namespace llmb::runner
