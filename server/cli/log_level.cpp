#include "server/cli/log_level.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <memory>

namespace llmb::cli {

CLI::Option* add_log_level_option(CLI::App& command, std::string& level) {
  return command
      .add_option("--log-level", level,
                  "From which level on the log on stderr says something (default: info)")
      ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error", "off"}))
      ->type_name("LEVEL");
}

void begin_log(const std::string& level) {
  auto logger = std::make_shared<spdlog::logger>(
      "llmb-report", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_level(level.empty() ? spdlog::level::info : spdlog::level::from_str(level));
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace llmb::cli
