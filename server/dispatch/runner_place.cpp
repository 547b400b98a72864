#include "server/dispatch/runner_place.h"

#include <fmt/format.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "parser/foundation/content_hash.h"
#include "parser/foundation/hex.h"
#include "server/dispatch/file_call.h"
#include "server/dispatch/runner_facts.h"
#include "server/dispatch/text_check.h"
#include "storage/local_disk.h"

namespace llmb::dispatch {
namespace {

namespace fs = std::filesystem;

// The runner has tens of megabytes.
constexpr std::chrono::seconds kCopyPatience{120};

std::optional<std::string> bytes_of(const fs::path& file) {
  std::ifstream input(file, std::ios::binary);
  if (!input) return std::nullopt;
  std::string bytes{std::istreambuf_iterator<char>(input), {}};
  return input.bad() ? std::nullopt : std::optional(std::move(bytes));
}

// Complete under its name, or not there: ranks may start it at any instant.
parser::Result<void> write_program(const fs::path& file, const std::string& bytes) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  const fs::path part = file.string() + fmt::format(".{}.part", getpid());
  bool is_written = false;
  if (!error) {
    std::ofstream output(part, std::ios::binary | std::ios::trunc);
    output << bytes;
    output.close();
    is_written = !output.fail();
  }
  if (is_written) {
    fs::permissions(part, fs::perms(0755), error);
    if (!error) fs::rename(part, file, error);
  }
  if (is_written && !error) return {};
  std::error_code ignored;
  fs::remove(part, ignored);
  return parser::fail(fmt::format(
      "cannot copy a program to {}: {}. Make the folder writable, or start one that the nodes see, "
      "without a copy",
      file.string(), error ? error.message() : "it could not be written; is the disk full?"));
}

parser::Result<std::string> copied(const std::string& original, const std::string& folder,
                                   CopyRunner copying) {
  const auto bytes = bytes_of(original);
  if (!bytes) return parser::fail(fmt::format("cannot read {} to copy it", original));
  const std::string hash = parser::hex_text(parser::content_hash(*bytes));
  const fs::path copy =
      fs::path(folder) / "programs" / (fs::path(original).filename().string() + "-" + hash);
  if (copying == CopyRunner::only_name || copy == original) return copy.string();
  const auto there = bytes_of(copy);
  if (there == bytes) return copy.string();
  if (there) {
    return parser::fail(fmt::format(
        "{} has not the bytes of {}, of which it bears the hash: somebody changed it. Remove it",
        copy.string(), original));
  }
  if (auto written = write_program(copy, *bytes); !written) return tl::unexpected(written.error());
  return copy.string();
}

parser::Result<std::string> copy_of(const ClusterSettings& settings, CopyRunner copying) {
  const std::string original = runner_file(settings);
  if (!original.empty()) return copied(original, settings.workload_folder, copying);
  return parser::fail(fmt::format("there is no {} on this machine to copy, in {}",
                                  in_quotes(settings.runner), settings.command_path));
}

// Nothing where it cannot be told.
std::optional<bool> is_on_local_disk(const std::string& path) {
  struct statfs found {};
  if (statfs(path.c_str(), &found) != 0) return std::nullopt;
  return storage::is_local_file_system(static_cast<std::uint32_t>(found.f_type));
}

parser::Result<std::string> doubt_of(const ClusterSettings& settings) {
  const std::string file = runner_file(settings);
  if (file.empty() || !lies_apart(file, settings.workload_folder)) return "";
  return fmt::format(
      "the runner {} lies on a disk of this machine, and the runs do not: where the nodes have "
      "none of their own at that path, --copy-runner ('copy_runner' in the configuration) puts "
      "it beside the runs",
      file);
}

}  // namespace

bool lies_apart(const std::string& program, const std::string& folder) {
  return is_on_local_disk(program) == true && is_on_local_disk(folder) == false;
}

parser::Result<std::string> copy_program(const std::string& program, const std::string& folder) {
  return ask_file_system<std::string>(
      folder, [program, folder] { return copied(program, folder, CopyRunner::make); },
      kCopyPatience);
}

parser::Result<std::string> place_runner(ClusterSettings& settings, CopyRunner copying) {
  if (!settings.copies_runner) {
    // A file system that does not answer will be told of by who needs it.
    return ask_file_system<std::string>(settings.workload_folder,
                                        [settings] { return doubt_of(settings); })
        .value_or("");
  }
  auto copy = ask_file_system<std::string>(
      settings.workload_folder, [settings, copying] { return copy_of(settings, copying); },
      kCopyPatience);
  if (!copy) return copy;
  settings.runner = *std::move(copy);
  return "";
}

}  // namespace llmb::dispatch
