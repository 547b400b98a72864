#include "server/backfill/work_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <utility>

#include "parser/foundation/name_table.h"
#include "parser/foundation/text.h"
#include "server/backfill/durable_file.h"
#include "server/push/json_fields.h"

namespace llmb::backfill {
namespace {

namespace fs = std::filesystem;
using push::Json;

constexpr std::size_t kLastWordsBytesMax = 200;

constexpr auto kPhases = parser::name_table<TaskPhase>({
    {TaskPhase::reading, "reading"},
    {TaskPhase::pushing, "pushing"},
    {TaskPhase::done, "done"},
    {TaskPhase::failed, "failed"},
});

TaskState read_state(std::string_view text) {
  const Json json = Json::parse(text);
  const push::JsonFields fields(json, "the task's state");
  TaskState state;
  state.phase =
      fields.read_named("phase", [](const std::string& name) { return kPhases.value(name); });
  fields.read("logs", state.logs);
  fields.read("logs_told", state.logs_told);
  fields.read("message", state.message);
  fields.read("machine", state.machine);
  fields.read("slurm_job", state.slurm_job);
  fields.read("at_s", state.at_s);
  return state;
}

}  // namespace

TaskLock::TaskLock(const std::string& file)
    : fd_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
  is_held_ = !fd_.is_open() || flock(fd_.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

std::string WorkFolder::file_of(std::int64_t task, const char* kind) const {
  return fmt::format("{}/tasks/{}.{}", path_, task, kind);
}

parser::Result<void> WorkFolder::make() const {
  std::error_code error;
  fs::create_directories(path_ + "/tasks", error);
  if (!error) return {};
  return parser::fail(fmt::format(
      "cannot make the work folder {}: {}. Name one that this user can write, on a file system "
      "that the nodes see, by --work-folder",
      path_, error.message()));
}

parser::Result<std::optional<Manifest>> WorkFolder::manifest() const {
  const auto text = read_whole(manifest_file());
  if (!text) return tl::unexpected(text.error());
  if (!*text) return std::optional<Manifest>();
  auto manifest = read_manifest(**text);
  if (manifest) return std::optional(std::move(*manifest));
  return parser::fail(fmt::format("{} is no manifest of a back-fill that can be read: {}",
                                  manifest_file(), manifest.error().message));
}

parser::Result<void> WorkFolder::write_manifest(const Manifest& manifest) const {
  return write_durably(manifest_file(), manifest_text(manifest));
}

parser::Result<std::optional<TaskState>> WorkFolder::state(std::int64_t task) const {
  const auto text = read_whole(state_file(task));
  if (!text) return tl::unexpected(text.error());
  if (!*text) return std::optional<TaskState>();
  try {
    return std::optional(read_state(**text));
  } catch (const std::exception& error) {
    return parser::fail(fmt::format("{} cannot be read: {}. Remove it, and the task begins anew",
                                    state_file(task), error.what()));
  }
}

parser::Result<void> WorkFolder::write_state(std::int64_t task, const TaskState& state) const {
  const Json json = {{"phase", kPhases.name(state.phase)},
                     {"logs", state.logs},
                     {"logs_told", state.logs_told},
                     {"message", push::text_json(state.message)},
                     {"machine", push::text_json(state.machine)},
                     {"slurm_job", push::text_json(state.slurm_job)},
                     {"at_s", state.at_s}};
  return write_durably(state_file(task), json.dump() + '\n');
}

bool WorkFolder::is_locked(std::int64_t task) const {
  const parser::FileDescriptor fd(open(lock_file(task).c_str(), O_RDONLY | O_CLOEXEC));
  return fd.is_open() && flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

std::string WorkFolder::last_words(std::int64_t task) const {
  const auto text = read_whole(output_file(task));
  if (!text || !*text) return {};
  std::string_view rest = **text;
  while (!rest.empty()) {
    const std::size_t begin = rest.rfind('\n') == std::string_view::npos ? 0 : rest.rfind('\n') + 1;
    const std::string_view line = parser::trimmed(rest.substr(begin), " \t\r\n");
    if (!line.empty()) return std::string(line.substr(0, kLastWordsBytesMax));
    rest = rest.substr(0, begin == 0 ? 0 : begin - 1);
  }
  return {};
}

}  // namespace llmb::backfill
