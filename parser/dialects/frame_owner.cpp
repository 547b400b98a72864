#include "parser/dialects/frame_owner.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "parser/foundation/text.h"

namespace llmb::parser {
namespace {

// Files lie in folders of users, whose names say nothing.
std::string_view names_at_the_end(std::string_view file) {
  constexpr int kNames = 4;
  std::size_t begin = file.size();
  for (int i = 0; i < kNames && begin != std::string_view::npos; ++i) {
    begin = begin == 0 ? std::string_view::npos : file.rfind('/', begin - 1);
  }
  return begin == std::string_view::npos ? file : file.substr(begin + 1);
}

bool runs_in_a_thread(std::string_view file, std::string_view function) {
  return (function == "_bootstrap_inner" && file.ends_with("threading.py")) ||
         (function == "_feed" && file.ends_with("queues.py"));
}

}  // namespace

FrameOwner owner_of(const TracebackFrame& frame) {
  constexpr auto kSaving = std::to_array<std::string_view>(
      {"save", "dump", "checkpoint", "ckpt", "serialization", "export"});
  constexpr auto kFilesOfHelpers =
      std::to_array<std::string_view>({"wandb", "mlflow", "tensorboard", "comet", "neptune",
                                       "clearml", "upload", "notif", "slack", "webhook"});
  constexpr auto kFunctionsOfHelpers = std::to_array<std::string_view>(
      {"__del__", "_run_exitfuncs", "destroy_process_group", "upload", "push_to_hub", "notify"});
  const std::string file = lower(names_at_the_end(frame.file));
  const std::string function = lower(frame.function);
  if (holds_one_of(function, kSaving) || holds_one_of(file, kSaving)) return FrameOwner::saving;
  const bool is_of_helper = runs_in_a_thread(file, function) ||
                            holds_one_of(file, kFilesOfHelpers) ||
                            holds_one_of(function, kFunctionsOfHelpers);
  return is_of_helper ? FrameOwner::helper : FrameOwner::program;
}

}  // namespace llmb::parser
