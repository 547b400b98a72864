// Cursor: where the next page of a list begins. Opaque to clients (base64url); it carries the
// question it belongs to, so that it cannot be used to continue another one by mistake.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "server/api/query_parameters.h"
#include "server/api/request_error.h"
#include "server/http/message.h"

namespace llmb::api {

struct Cursor {
  std::string sort;                       // "-launched_at", as the parameter has it
  std::optional<std::string> sort_value;  // nothing: the last row's value was null
  std::int64_t id = 0;
  std::string filter_hash;  // of the canonical filter

  bool operator==(const Cursor&) const = default;
};

std::string encode_cursor(const Cursor& cursor);
std::optional<Cursor> decode_cursor(std::string_view text);  // nothing: not one of ours

// Decodes and compares with the question asked now; throws RequestError that says which differs.
Cursor require_cursor(std::string_view text, std::string_view sort, std::string_view filter_hash);

RequestError unknown_cursor();

// The Link header (RFC 8288) that leads to the page after this one.
std::pair<std::string, std::string> next_link(const http::Request& request,
                                              const QueryParameters& parameters,
                                              const std::string& cursor);

}  // namespace llmb::api
