// `--catalog FILE`: the embedded catalog, or that with a user's file on it; and `--gpu-type`, which
// names one of its GPUs.
#pragma once

#include <memory>
#include <string>

#include "parser/catalog/catalog.h"
#include "parser/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace llmb::cli {

// An empty path means the embedded catalog. The error names file, line and what is allowed.
parser::Result<std::shared_ptr<const parser::Catalog>> read_catalog(const std::string& path);

CLI::Option* add_catalog_option(CLI::App& command, std::string& value);

// `--gpu-type GPU`: of logs of which nothing else says it.
CLI::Option* add_left_open_gpu_option(CLI::App& command, std::string& value);
// An empty text is known. `catalog`: null for the embedded one. The error names those that it has.
parser::Result<void> check_gpu_type(const parser::Catalog* catalog, const std::string& gpu_type);

}  // namespace llmb::cli
