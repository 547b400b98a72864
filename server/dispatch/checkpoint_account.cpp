#include "server/dispatch/checkpoint_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "server/dispatch/file_call.h"

namespace llmb::dispatch {
namespace {

namespace fs = std::filesystem;

// nemotron4-25.04, Run With Checkpoints: sizes, the scales at which saving is supported, and the
// smallest at which loading was tested.
struct CheckpointTable {
  std::string_view model_size;
  std::string_view text;
  double bytes;
  std::int64_t save_scale_min;
  std::int64_t save_scale_max;
  std::int64_t load_scale_min;
};
constexpr auto kNemotronCheckpoints = std::to_array<CheckpointTable>(
    {{"15b", "204 GB", 204e9, 16, 2048, 64}, {"340b", "4.4 TB", 4.4e12, 256, 2048, 512}});

std::string bytes_text(double bytes) {
  if (bytes >= 1e12) return fmt::format("{:.1f} TB", bytes / 1e12);
  return bytes >= 1e8 ? fmt::format("{:.1f} GB", bytes / 1e9)
                      : fmt::format("{:.1f} MB", bytes / 1e6);
}

// "/lustre/workloads has 1.2 TB free", and whether that is enough for so many bytes; empty where
// the folder cannot be asked.
std::string free_space_text(const std::string& folder, double needed_bytes) {
  const auto space =
      ask_file_system<std::uintmax_t>(folder, [folder]() -> parser::Result<std::uintmax_t> {
        std::error_code error;
        const auto found = fs::space(folder, error);
        if (error) return parser::fail(error.message());
        return found.available;
      });
  if (!space) return "";
  const auto free = static_cast<double>(*space);
  return fmt::format("; {} has {} free{}", folder, bytes_text(free),
                     needed_bytes > free ? ", which is too little" : "");
}

// Of a file, or of all files below a folder: as many as are counted in a moment.
parser::Result<std::string> size_text_of(const fs::path& path) {
  constexpr int kFilesMax = 10'000;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return parser::fail(error ? error.message() : "No such file");
  if (fs::is_regular_file(status)) {
    return bytes_text(static_cast<double>(fs::file_size(path, error)));
  }
  double bytes = 0;
  int files = 0;
  fs::recursive_directory_iterator entry(path, fs::directory_options::skip_permission_denied,
                                         error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (!entry->is_regular_file(ignored)) continue;
    const auto size = entry->file_size(ignored);
    if (!ignored) bytes += static_cast<double>(size);
    if (++files == kFilesMax) return "more than " + bytes_text(bytes);
  }
  if (error) return parser::fail(error.message());
  return bytes_text(bytes);
}

// What is to be loaded: it may be on the nodes only.
std::string load_note(const std::string& path) {
  const auto size = ask_file_system<std::string>(path, [path] { return size_text_of(path); });
  if (size) return fmt::format("the checkpoint to load, {}, has {}", path, *size);
  return fmt::format(
      "the checkpoint to load, {}, cannot be seen from here ({}): the job fails where its nodes do "
      "not see it either",
      path, size.error().message);
}

const CheckpointTable* table_of(const Submission& wanted) {
  if (wanted.workload != "pretrain_nemotron4" || wanted.proxy) return nullptr;
  const auto* const row = std::find_if(
      kNemotronCheckpoints.begin(), kNemotronCheckpoints.end(),
      [&](const CheckpointTable& known) { return known.model_size == wanted.model_size; });
  return row == kNemotronCheckpoints.end() ? nullptr : row;
}

}  // namespace

std::vector<std::string> checkpoint_notes(const Submission& wanted,
                                          const ClusterSettings& settings) {
  std::vector<std::string> notes;
  const CheckpointTable* const known = table_of(wanted);
  if (wanted.checkpoint) {
    std::string text =
        fmt::format("how large a checkpoint of {}{} {} is, no document says",
                    wanted.proxy ? "a proxy of " : "", wanted.workload, wanted.model_size);
    if (known != nullptr) {
      text = fmt::format("a checkpoint of Nemotron 4 {} takes about {}", known->model_size,
                         known->text);
    }
    notes.push_back(text +
                    free_space_text(settings.workload_folder, known == nullptr ? 0 : known->bytes));
  }
  if (!wanted.load_checkpoint_path.empty()) {
    notes.push_back(load_note(wanted.load_checkpoint_path));
  }
  if (known == nullptr) return notes;
  if (wanted.checkpoint &&
      (wanted.scale < known->save_scale_min || wanted.scale > known->save_scale_max)) {
    notes.push_back(
        fmt::format("saving a checkpoint of Nemotron 4 {} is supported at {} to {} GPUs: not at {}",
                    known->model_size, known->save_scale_min, known->save_scale_max, wanted.scale));
  }
  if (!wanted.load_checkpoint_path.empty() && wanted.scale < known->load_scale_min) {
    notes.push_back(fmt::format(
        "loading a checkpoint of Nemotron 4 {} was tested at {} GPUs and more: {} may run out of "
        "memory",
        known->model_size, known->load_scale_min, wanted.scale));
  }
  return notes;
}

}  // namespace llmb::dispatch
