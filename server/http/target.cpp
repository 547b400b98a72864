#include "server/http/target.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <optional>

#include "parser/foundation/hex.h"
#include "parser/foundation/text.h"
#include "parser/foundation/utf8.h"

namespace llmb::http {
namespace {

// Nothing where an escape is broken, or the result holds a control character or is not UTF-8.
std::optional<std::string> decode(std::string_view text, bool plus_is_space) {
  // The target's characters were checked: without an escape there is nothing to do.
  if (text.find('%') == std::string_view::npos &&
      (!plus_is_space || text.find('+') == std::string_view::npos)) {
    return std::string(text);
  }
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = parser::hex_value(text[i + 1]);
      const int low = parser::hex_value(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f) {
      return std::nullopt;
    }
    out += c;
  }
  if (!is_valid_utf8(out)) return std::nullopt;
  return out;
}

bool has_dot_segment(std::string_view path) {
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part == "." || part == "..") return true;
    begin = end + 1;
  }
  return false;
}

std::string read_path(std::string_view raw, Request& request) {
  for (std::size_t i = 0; i + 2 < raw.size(); ++i) {
    const bool escape = raw[i] == '%';
    if (escape && raw[i + 1] == '2' && (raw[i + 2] == 'f' || raw[i + 2] == 'F')) {
      return "an encoded slash in the path is not accepted";
    }
  }
  std::optional<std::string> path = decode(raw, false);
  if (!path) return "the path has a broken escape, a control character or invalid UTF-8";
  if (path->find('\\') != std::string::npos) return "a backslash in the path is not accepted";
  if (path->find_first_of("\t\n\r") != std::string::npos) {
    return "a control character in the path is not accepted";
  }
  if (has_dot_segment(*path)) return "\".\" and \"..\" in the path are not accepted";
  request.path = std::move(*path);
  return {};
}

std::string read_query(std::string_view raw, Request& request) {
  std::size_t begin = 0;
  while (begin < raw.size()) {
    const std::size_t end = std::min(raw.find('&', begin), raw.size());
    const std::string_view pair = raw.substr(begin, end - begin);
    begin = end + 1;
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    std::optional<std::string> name = decode(pair.substr(0, equals), true);
    std::optional<std::string> value = decode(pair.substr(std::min(equals + 1, pair.size())), true);
    if (!name || !value) {
      return "the query has a broken escape, a control character or invalid UTF-8";
    }
    request.query.emplace_back(std::move(*name), std::move(*value));
  }
  return {};
}

}  // namespace

std::string read_target(std::string_view raw, Request& request) {
  std::string with_slash;
  // RFC 9112 3.2.2: a server must understand the absolute form; its authority replaces Host.
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (raw.size() < scheme.size() ||
        !parser::equal_but_for_case(raw.substr(0, scheme.size()), scheme)) {
      continue;
    }
    raw.remove_prefix(scheme.size());
    const std::size_t end = std::min(raw.find_first_of("/?"), raw.size());
    request.host = raw.substr(0, end);
    if (request.host.empty()) return "the request's target names no host";
    raw.remove_prefix(end);
    if (raw.empty() || raw.front() == '?') raw = with_slash = '/' + std::string(raw);
    break;
  }
  if (raw.empty() || raw.front() != '/') return "the request's target must begin with \"/\"";
  for (const char c : raw) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte >= 0x7f || c == '#') {
      return "the request's target holds a character that must be escaped";
    }
  }
  request.target = raw;
  const std::size_t question = std::min(raw.find('?'), raw.size());
  std::string complaint = read_path(raw.substr(0, question), request);
  if (complaint.empty() && question < raw.size()) {
    complaint = read_query(raw.substr(question + 1), request);
  }
  return complaint;
}

bool is_loopback_name(const std::string& name) {
  if (parser::equal_but_for_case(name, "localhost")) return true;
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(name, error);
  return !error && address.is_loopback();
}

bool host_is_allowed(std::string_view host, const std::vector<std::string>& allowed_hosts) {
  std::string_view name = host;
  std::string_view port;
  const std::size_t bracket = host.rfind(']');
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    name = host.substr(0, colon);
    port = host.substr(colon + 1);
  }
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!std::all_of(port.begin(), port.end(), is_digit)) return false;
  // An IPv6 address stands in brackets, and no other does.
  const bool is_bracketed = name.starts_with('[') && name.ends_with(']');
  const std::string own(is_bracketed ? name.substr(1, name.size() - 2) : name);
  const bool is_ipv6 = own.find(':') != std::string::npos;
  if (is_bracketed == is_ipv6 && is_loopback_name(own)) return true;
  return std::any_of(allowed_hosts.begin(), allowed_hosts.end(), [&](const std::string& allowed) {
    return parser::equal_but_for_case(name, allowed) || parser::equal_but_for_case(host, allowed);
  });
}

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = parser::first_character(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace llmb::http
