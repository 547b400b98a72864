#include "server/dispatch/container.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <utility>

#include "parser/foundation/text.h"
#include "server/dispatch/file_call.h"
#include "server/dispatch/plan.h"
#include "server/dispatch/text_check.h"

namespace llmb::dispatch {
namespace {

using parser::fail;

std::vector<std::string> mounts_in(std::string_view text) {
  const std::vector<std::string_view> mounts = parser::split(text, ',');
  return {mounts.begin(), mounts.end()};
}

bool has(const std::vector<std::string>& list, std::string_view value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

std::vector<std::string> mounts_of(const Submission& wanted, const ClusterSettings& settings) {
  std::vector<std::string> mounts = settings.container_mounts;
  if (wanted.container_mounts.empty()) return mounts;
  for (std::string& mount : mounts_in(wanted.container_mounts)) {
    if (!has(mounts, mount)) mounts.push_back(std::move(mount));
  }
  return mounts;
}

// Images have these, too: the node's own in their place would hide what is in them.
constexpr std::array<std::string_view, 8> kFoldersOfImages = {
    "", "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/root"};

// The program's folder, for its libraries may lie beside it; there, the program alone. Empty for a
// name that is looked for in PATH.
std::string source_of_program(const std::string& program) {
  const std::size_t slash = program.rfind('/');
  if (slash == std::string::npos) return {};
  const std::string folder = program.substr(0, slash);
  const bool is_of_images =
      std::find(kFoldersOfImages.begin(), kFoldersOfImages.end(), folder) != kFoldersOfImages.end();
  return is_of_images ? program : folder;
}

// Where a mount is in the container: behind its first colon, or where it is outside.
std::string_view target_of(std::string_view mount) {
  const std::size_t colon = mount.find(':');
  if (colon == std::string_view::npos) return mount;
  const std::string_view rest = mount.substr(colon + 1);
  return rest.substr(0, rest.find(':'));
}

// What the runner reads there besides the folder for runs, whose parts need no mount of their own.
std::vector<std::string> sources_read(const Submission& wanted, const std::string& program,
                                      const std::string& runs) {
  std::vector<std::string> sources;
  for (const std::string& source : {wanted.load_checkpoint_path, source_of_program(program)}) {
    if (!source.empty() && !(source + "/").starts_with(runs + "/")) sources.push_back(source);
  }
  return sources;
}

std::string names_or_none(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

parser::Result<void> check_image(const Submission& wanted, const ClusterSettings& settings) {
  const std::string& image = wanted.container_image;
  if (image.empty()) {
    if (wanted.launcher == "recipe") return {};  // it has one of its own
    return fail("container_mounts needs a container_image: nothing is mounted without");
  }
  if (!is_container_image(image)) {
    return fail(
        fmt::format("container_image {} is neither a name such as "
                    "nvcr.io#nvidia/nemo:25.04 nor the absolute path of a squashfs file",
                    in_quotes(image)));
  }
  if (settings.takes_any_container || has(settings.container_images, image)) return {};
  return fail(
      fmt::format("the image {} may not be asked for; these may: {} ('container_images' in "
                  "the configuration)",
                  in_quotes(image), names_or_none(settings.container_images)));
}

parser::Result<void> check_mounts(const Submission& wanted, const ClusterSettings& settings) {
  if (wanted.container_mounts.empty()) return {};
  for (const std::string& mount : mounts_in(wanted.container_mounts)) {
    if (!is_container_mount(mount)) {
      return fail(
          fmt::format("container_mounts has {}, which is no mount such as /from:/to or "
                      "/from:/to:ro, with absolute paths of letters, digits and any of "
                      "/._+@=-",
                      in_quotes(mount)));
    }
    if (settings.takes_any_container || has(settings.container_mounts, mount)) continue;
    return fail(
        fmt::format("the mount {} may not be asked for; these are made by themselves: {} "
                    "('container_mounts' in the configuration)",
                    in_quotes(mount), names_or_none(settings.container_mounts)));
  }
  return {};
}

}  // namespace

std::string leave_out_recipes_container(Submission& wanted, Origins& origins) {
  if (wanted.launcher != "runner") return {};
  // Only what a variable set has an origin.
  const bool had_image = origins.erase("container_image") > 0;
  const bool had_mounts = origins.erase("container_mounts") > 0;
  if (had_image) wanted.container_image.clear();
  if (had_mounts) wanted.container_mounts.clear();
  if (!had_image && !had_mounts) return {};
  return "RUN_CONF_IMAGE and RUN_CONF_MOUNTS have no effect: the launcher 'runner' runs in a "
         "container where --container-image says so";
}

parser::Result<void> check_container(const Submission& wanted, const ClusterSettings& settings) {
  if (wanted.container_image.empty() && wanted.container_mounts.empty()) return {};
  if (auto checked = check_image(wanted, settings); !checked) return checked;
  if (auto checked = check_mounts(wanted, settings); !checked) return checked;
  if (wanted.launcher == "recipe") return {};
  std::vector<std::string> sources =
      sources_read(wanted, settings.runner, settings.workload_folder);
  sources.push_back(settings.workload_folder);
  for (const std::string& source : sources) {
    if (is_mountable_path(source)) continue;
    return fail(
        fmt::format("{} cannot be mounted in a container: its path holds more than "
                    "letters, digits and any of /._+@=-",
                    in_quotes(source)));
  }
  return {};
}

std::vector<std::string> container_notes(const Submission& wanted,
                                         const ClusterSettings& settings) {
  std::vector<std::string> notes;
  const std::string& image = wanted.container_image;
  if (image.empty()) return notes;
  if (image.front() == '/') {
    const auto looked = ask_file_system<bool>(image, [image]() -> parser::Result<bool> {
      std::error_code error;
      const bool is_there = std::filesystem::is_regular_file(image, error);
      return is_there ? parser::Result<bool>(true) : fail(error ? error.message() : "no file");
    });
    if (!looked) {
      notes.push_back(
          fmt::format("the image {} cannot be seen from here ({}): the job fails where its nodes "
                      "do not see it either",
                      image, looked.error().message));
    }
  }
  if (wanted.launcher == "runner" && settings.runner.find('/') == std::string::npos) {
    notes.push_back(
        fmt::format("the runner {} is looked for in the container, where nothing of it is mounted: "
                    "name its path ('runner' in the configuration), or --copy-runner",
                    in_quotes(settings.runner)));
  }
  return notes;
}

std::string container_mounts(const Submission& wanted, const ClusterSettings& settings) {
  if (wanted.container_image.empty() && wanted.container_mounts.empty()) return {};
  return fmt::format("{}", fmt::join(mounts_of(wanted, settings), ","));
}

std::vector<std::string> container_options(const Plan& plan, const ClusterSettings& settings,
                                           const std::string& run_folder) {
  if (plan.submission.container_image.empty()) return {};
  std::vector<std::string> mounts = mounts_of(plan.submission, settings);
  const std::string& runs = settings.workload_folder;
  for (const std::string& source : sources_read(plan.submission, plan.program, runs)) {
    mounts.push_back(fmt::format("{0}:{0}:ro", source));
  }
  if (!has(mounts, runs)) mounts.push_back(runs);
  // They are made in this order: what lies below another's target comes after it, or would be
  // hidden, and the folder for runs read-only where it lies below one that is.
  std::stable_sort(mounts.begin(), mounts.end(), [](const std::string& a, const std::string& b) {
    return target_of(a) < target_of(b);
  });
  return {"--container-image=" + plan.submission.container_image,
          fmt::format("--container-mounts={}", fmt::join(mounts, ",")),
          "--container-workdir=" + run_folder};
}

}  // namespace llmb::dispatch
