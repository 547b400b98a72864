// What `parse --metrics` adds to a report: each run's recipe and derived metrics.
#pragma once

#include <memory>
#include <optional>

#include "parser/catalog/catalog.h"
#include "server/cli/report.h"

namespace llmb::cli {

// The runs must have kept their samples. The report keeps the catalog.
void add_metrics(Report& report, std::shared_ptr<const parser::Catalog> catalog,
                 const std::optional<parser::Window>& asked);

}  // namespace llmb::cli
