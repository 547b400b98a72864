// QueryParameters: the query of a request, read strictly. An unknown, repeated, empty or
// malformed parameter is refused with a text that says what is allowed: a filter with a typing
// error must not answer as if it had not been there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parser/foundation/instant.h"
#include "parser/statistics/run_marks.h"
#include "parser/step_interruption.h"
#include "parser/window.h"
#include "server/http/message.h"

namespace llmb::api {

class QueryParameters {
 public:
  // Throws RequestError for a parameter that is not in `allowed`, or is empty, or comes twice and
  // is not in `repeatable`.
  QueryParameters(const http::Request& request, const std::vector<std::string_view>& allowed,
                  const std::vector<std::string_view>& repeatable = {});

  // Each throws RequestError when the value is there but is not what it has to be.
  std::optional<std::string> text(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;  // of one that may be repeated
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t min,
                                      std::int64_t max) const;
  std::vector<std::int64_t> integers(std::string_view name, std::int64_t min,
                                     std::int64_t max) const;
  std::optional<double> number(std::string_view name, double min, double max) const;
  std::optional<bool> boolean(std::string_view name) const;
  // A date, or an RFC 3339 instant with any offset.
  std::optional<parser::Instant> instant(std::string_view name) const;
  std::optional<parser::Window> window(std::string_view name) const;
  std::optional<parser::AskedWindow> asked_window(std::string_view name) const;  // or "last"
  parser::RunMarkSet run_marks(std::string_view name) const;  // none where it is not given
  parser::StepInterruptionSet step_interruptions(std::string_view name) const;  // likewise
  std::int64_t limit() const;  // "limit": 1 to 500, 50 by default

  // All parameters but `except`, sorted and percent-encoded: equal for equal questions.
  std::string canonical(const std::vector<std::string_view>& except = {}) const;

 private:
  template <typename Value>
  std::optional<Value> parsed(std::string_view name,
                              parser::Result<Value> (*parse)(std::string_view)) const;

  std::vector<std::pair<std::string, std::string>> values_;  // sorted, each once
};

std::string percent_encode(std::string_view text);

// "12" of ".../runs/12"; throws RequestError (404) for what cannot be an id.
std::int64_t id_parameter(const http::Request& request);

}  // namespace llmb::api
