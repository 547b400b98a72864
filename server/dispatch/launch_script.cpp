#include "server/dispatch/launch_script.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "server/dispatch/file_call.h"

namespace llmb::dispatch {

parser::Result<void> see_launch_script(const std::string& script) {
  const auto looked = ask_file_system<bool>(script, [script]() -> parser::Result<bool> {
    std::error_code error;
    if (std::filesystem::is_regular_file(script, error)) return true;
    return parser::fail(error ? error.message() : "no file");
  });
  if (!looked) return tl::unexpected(looked.error());
  return {};
}

parser::Result<std::string> find_launch_script(const std::string& workload,
                                               const ClusterSettings& settings,
                                               const DocumentWords& words) {
  const auto named = settings.launch_scripts.find(workload);
  if (named != settings.launch_scripts.end()) return named->second;
  std::string where;
  if (!settings.llmb_repo.empty() && !words.folder.empty()) {
    std::string script = fmt::format("{}/{}/launch.sh", settings.llmb_repo, words.folder);
    const auto seen = see_launch_script(script);
    if (seen) return script;
    where = fmt::format(", and {} cannot be seen from here ({})", script, seen.error().message);
  }
  if (!settings.llmb_repo.empty() && words.folder.empty()) {
    where = fmt::format(
        ", and the repository {} (LLMB_REPO) does not tell: the document names no folder in it",
        settings.llmb_repo);
  }
  return parser::fail(fmt::format(
      "the configuration names no launch.sh of {}{}: 'launch_scripts' says where an installed "
      "recipe has it{}",
      workload, where,
      settings.llmb_repo.empty() && !words.folder.empty()
          ? ", or LLMB_REPO where the recipes' repository is"
          : ""));
}

}  // namespace llmb::dispatch
