// The sections of a catalog file, one function each: JSON -> record. They throw CatalogFault.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "parser/catalog/catalog.h"
#include "parser/catalog/json_record.h"

namespace llmb::parser {

FlopsFormula read_flops_formula(const JsonRecord& record);  // of its key flops_formula

Document read_document(const nlohmann::json& value, const JsonPath& path);
ReleaseWindow read_release_window(const nlohmann::json& value, const JsonPath& path);
GpuType read_gpu(const nlohmann::json& value, const JsonPath& path);
Model read_model(const nlohmann::json& value, const JsonPath& path);
Workload read_workload(const nlohmann::json& value, const JsonPath& path);
Recipe read_recipe(const nlohmann::json& value, const JsonPath& path);
Reference read_reference(const nlohmann::json& value, const JsonPath& path);
ReleaseFlops read_release_flops(const nlohmann::json& value, const JsonPath& path);
SampleOutput read_sample_output(const nlohmann::json& value, const JsonPath& path);
WorkedExample read_worked_example(const nlohmann::json& value, const JsonPath& path);
PublishedCommand read_command(const nlohmann::json& value, const JsonPath& path);

}  // namespace llmb::parser
