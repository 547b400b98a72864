#include "server/http/router.h"

#include <fmt/format.h>

#include <algorithm>

namespace llmb::http {
namespace {

std::vector<std::string_view> split_path(std::string_view path) {
  std::vector<std::string_view> parts;
  parts.reserve(8);
  std::size_t begin = 1;  // every path opens with '/'
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool is_parameter(std::string_view part) {
  return part.size() > 2 && part.front() == '{' && part.back() == '}';
}

bool matches(const std::vector<std::string>& pattern, const std::vector<std::string_view>& parts) {
  if (pattern.size() != parts.size()) return false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (is_parameter(pattern[i]) ? parts[i].empty() : pattern[i] != parts[i]) return false;
  }
  return true;
}

void add_to_list(std::string& list, std::string_view method) {
  if (("," + list + ",").find("," + std::string(method) + ",") != std::string::npos) return;
  if (!list.empty()) list += ',';
  list += method;
}

Response not_allowed(const Request& request, std::string allowed) {
  Response response = problem(405, "Method not allowed",
                              fmt::format("{} is not served at {}; these methods are: {}",
                                          request.method, request.path, allowed));
  response.headers.emplace_back("Allow", std::move(allowed));
  return response;
}

}  // namespace

void Router::add(std::string method, std::string pattern, Handler handler, RouteOptions options) {
  Route route;
  for (const std::string_view part : split_path(pattern)) {
    route.parts.emplace_back(part);
    route.parameter_count += is_parameter(part) ? 1 : 0;
  }
  route.method = std::move(method);
  route.pattern = std::move(pattern);
  route.handler = std::move(handler);
  route.options = options;
  routes_.push_back(std::move(route));
}

void Router::set_fallback(Handler handler) {
  fallback_ = std::move(handler);
}

void Router::set_finishing(std::function<void(const Request&, Response&)> finishing) {
  finishing_ = std::move(finishing);
}

void Router::finish(const Request& request, Response& response) const {
  if (finishing_) finishing_(request, response);
}

const Router::Route* Router::find(std::string_view method,
                                  const std::vector<std::string_view>& parts,
                                  std::string* allowed) const {
  const std::string_view served = method == "HEAD" ? "GET" : method;
  const Route* best = nullptr;
  for (const Route& route : routes_) {
    if (!matches(route.parts, parts)) continue;
    if (allowed != nullptr) {
      add_to_list(*allowed, route.method);
      if (route.method == "GET") add_to_list(*allowed, "HEAD");
    }
    if (route.method != served) continue;
    if (best == nullptr || route.parameter_count < best->parameter_count) best = &route;
  }
  return best;
}

Response Router::dispatch(Request& request) const {
  const std::vector<std::string_view> parts = split_path(request.path);
  if (const Route* route = find(request.method, parts, nullptr)) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::string_view name = route->parts[i];
      if (is_parameter(name)) {
        request.path_parameters.emplace(name.substr(1, name.size() - 2), parts[i]);
      }
    }
    return route->handler(request);
  }
  std::string allowed;
  find(request.method, parts, &allowed);
  if (!allowed.empty()) return not_allowed(request, std::move(allowed));
  if (fallback_) {
    if (request.method == "GET" || request.method == "HEAD") return fallback_(request);
    Request reading;
    reading.method = "HEAD";
    reading.path = request.path;
    if (fallback_(reading).status != 404) return not_allowed(request, "GET,HEAD");
  }
  return problem(404, "Not found", "nothing is served at " + request.path);
}

RouteOptions Router::options_for(std::string_view method, std::string_view path) const {
  const Route* route = find(method, split_path(path), nullptr);
  return route == nullptr ? RouteOptions() : route->options;
}

std::vector<std::string> Router::routes() const {
  std::vector<std::string> names;
  names.reserve(routes_.size());
  for (const Route& route : routes_) names.push_back(route.method + " " + route.pattern);
  return names;
}

}  // namespace llmb::http
