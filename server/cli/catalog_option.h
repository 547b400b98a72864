// `--catalog FILE`: the embedded catalog, or that with a user's file on it.
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

}  // namespace llmb::cli
