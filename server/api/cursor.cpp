#include "server/api/cursor.h"

#include <nlohmann/json.hpp>

namespace llmb::api {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// RFC 4648 section 5, without padding.
std::string base64url_encode(std::string_view bytes) {
  std::string text;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char byte : bytes) {
    bits = (bits << 8U) | static_cast<unsigned char>(byte);
    for (count += 8; count >= 6; count -= 6) text += kAlphabet[(bits >> (count - 6)) & 63U];
  }
  if (count > 0) text += kAlphabet[(bits << (6 - count)) & 63U];
  return text;
}

std::optional<std::string> base64url_decode(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char letter : text) {
    const std::size_t value = kAlphabet.find(letter);
    if (value == std::string_view::npos) return std::nullopt;
    bits = (bits << 6U) | static_cast<std::uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>((bits >> count) & 255U);
    }
  }
  return bytes;
}

}  // namespace

std::string encode_cursor(const Cursor& cursor) {
  nlohmann::json fields = {cursor.sort, nullptr, cursor.id, cursor.filter_hash};
  // Encoded once more because a path may hold any bytes, and JSON holds UTF-8 only.
  if (cursor.sort_value) fields[1] = base64url_encode(*cursor.sort_value);
  return base64url_encode(fields.dump());
}

std::optional<Cursor> decode_cursor(std::string_view text) {
  const auto bytes = base64url_decode(text);
  if (!bytes) return std::nullopt;
  const auto fields = nlohmann::json::parse(*bytes, nullptr, false);
  if (!fields.is_array() || fields.size() != 4 || !fields[0].is_string() ||
      !(fields[1].is_string() || fields[1].is_null()) || !fields[2].is_number_integer() ||
      !fields[3].is_string()) {
    return std::nullopt;
  }
  Cursor cursor{fields[0].get<std::string>(), std::nullopt, fields[2].get<std::int64_t>(),
                fields[3].get<std::string>()};
  if (fields[1].is_string()) {
    cursor.sort_value = base64url_decode(fields[1].get_ref<const std::string&>());
    if (!cursor.sort_value) return std::nullopt;
  }
  return cursor;
}

RequestError unknown_cursor() {
  return bad_request(
      "Parameter 'cursor' is not one that this API gave; take it from next_cursor of the page "
      "before, or leave it out for the first page.");
}

Cursor require_cursor(std::string_view text, std::string_view sort, std::string_view filter_hash) {
  auto cursor = decode_cursor(text);
  if (!cursor) throw unknown_cursor();
  if (cursor->sort != sort) {
    throw bad_request("The cursor belongs to a list sorted by '" + cursor->sort +
                      "', and this one is sorted by '" + std::string(sort) +
                      "'; leave the cursor out to begin again.");
  }
  if (cursor->filter_hash != filter_hash) {
    throw bad_request(
        "The cursor belongs to a list with other filters; keep them as they were, or leave the "
        "cursor out to begin again.");
  }
  return *std::move(cursor);
}

std::pair<std::string, std::string> next_link(const http::Request& request,
                                              const QueryParameters& parameters,
                                              const std::string& cursor) {
  const std::string question = parameters.canonical({"cursor"});
  return {"Link", "<" + request.path + "?" + question + (question.empty() ? "" : "&") +
                      "cursor=" + cursor + ">; rel=\"next\""};
}

}  // namespace llmb::api
