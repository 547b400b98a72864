#include "server/cli/catalog_option.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "parser/catalog/catalog_loader.h"
#include "parser/foundation/text.h"

namespace llmb::cli {

parser::Result<std::shared_ptr<const parser::Catalog>> read_catalog(const std::string& path) {
  using parser::Catalog;
  if (path.empty()) {
    // Lives as long as the program: nothing owns it.
    return std::shared_ptr<const Catalog>(std::shared_ptr<void>(), &parser::embedded_catalog());
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    const std::string cause = errno != 0 ? std::strerror(errno) : "it is empty";
    return parser::fail(fmt::format("the catalog {} cannot be read: {}", path, cause));
  }
  auto catalog = parser::load_catalog_over_embedded({path, text.str()});
  if (!catalog) return tl::unexpected(catalog.error());
  return std::make_shared<const Catalog>(std::move(*catalog));
}

CLI::Option* add_catalog_option(CLI::App& command, std::string& value) {
  return command
      .add_option("--catalog", value,
                  "A JSON file of recipes, models, peaks and references that replaces and extends "
                  "the built-in ones")
      ->type_name("FILE");
}

CLI::Option* add_left_open_gpu_option(CLI::App& command, std::string& value) {
  return command
      .add_option("--gpu-type", value,
                  "The GPU of logs whose llmb-config and name say none: h100, gb200 …")
      ->transform([](const std::string& gpu_type) { return parser::lower(gpu_type); })
      ->type_name("GPU");
}

parser::Result<void> check_gpu_type(const parser::Catalog* catalog, const std::string& gpu_type) {
  if (gpu_type.empty()) return {};
  const parser::Catalog& asked = catalog != nullptr ? *catalog : parser::embedded_catalog();
  if (asked.gpu(gpu_type) != nullptr) return {};
  std::string known;
  for (const parser::GpuType& gpu : asked.gpus) known += " " + gpu.gpu_type;
  return parser::fail(fmt::format("the catalog has no GPU '{}'; it has{}", gpu_type, known));
}

}  // namespace llmb::cli
