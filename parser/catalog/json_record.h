// JsonRecord: one object of a catalog file, read strictly: every key is known, every value has its
// type and lies in the range of its unit. What is wrong is thrown as CatalogFault with its place in
// the document, and turned into a Result by the loader, the only one who catches it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/catalog/printed_number.h"
#include "parser/catalog/scale_formula.h"

namespace llmb::parser {

// Where in a JSON document: ["recipes", "3", "gpu_type"]. A repeated key is meant by its second
// occurrence.
using JsonPath = std::vector<std::string>;

struct CatalogFault {
  JsonPath path;
  std::string message;  // says what is wrong and what is allowed
};

struct NumberRange {
  double min = 0;
  double max = 0;
  std::string_view unit;  // for the message: "in seconds"
};

class JsonRecord {
 public:
  // Throws for a value that is no object and for keys that are not in `allowed`.
  JsonRecord(const nlohmann::json& value, JsonPath path,
             const std::vector<std::string_view>& allowed);

  const JsonPath& path() const { return path_; }
  bool has(std::string_view key) const;
  const nlohmann::json& at(std::string_view key) const;  // throws where it is missing

  std::string text(std::string_view key) const;           // not empty
  std::string optional_text(std::string_view key) const;  // empty where it is missing
  std::vector<std::string> texts(std::string_view key) const;
  std::string one_of(std::string_view key, const std::vector<std::string_view>& allowed) const;
  std::int64_t integer(std::string_view key, std::int64_t min, std::int64_t max) const;
  std::optional<std::int64_t> optional_integer(std::string_view key, std::int64_t min,
                                               std::int64_t max) const;
  double number(std::string_view key, const NumberRange& range) const;
  bool flag(std::string_view key) const;
  std::optional<bool> optional_flag(std::string_view key) const;
  ScaleFormula formula(std::string_view key) const;  // a whole number, or text such as "GPUs/2"
  std::optional<PrintedNumber> printed(std::string_view key, const NumberRange& range) const;

  [[noreturn]] void fail_at(std::string_view key, const std::string& message) const;

 private:
  const nlohmann::json& value_;
  JsonPath path_;
};

// "a, b or c"
std::string list_of(const std::vector<std::string_view>& names);

JsonPath operator/(JsonPath path, std::string_view step);

}  // namespace llmb::parser
