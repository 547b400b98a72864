#include "server/api/access.h"

#include <algorithm>
#include <utility>

#include "server/api/request_error.h"
#include "server/dispatch/wall_clock.h"
#include "server/http/bearer_token.h"
#include "storage/job_store.h"

namespace llmb::api {
namespace {

RequestError unauthorized(const std::string& detail) {
  return {401, "Unauthorized", detail, {{"WWW-Authenticate", "Bearer"}}};
}

}  // namespace

std::string require_submitter(const Context& context, const http::Request& request) {
  std::string name = require_scope(context, request, "submit");
  const auto& names = context.options.submitters;
  if (std::find(names.begin(), names.end(), name) != names.end()) return name;
  throw RequestError(403, "Forbidden",
                     names.empty()
                         ? "Nobody may submit here: the configuration of `llmb-report serve` "
                           "names no 'submitters' for its cluster."
                         : "The token '" + name +
                               "' is not among the 'submitters' that the configuration of "
                               "`llmb-report serve` names for its cluster.");
}

std::string require_scope(const Context& context, const http::Request& request,
                          std::string_view scope) {
  return require_token(context, request, scope).name;
}

storage::TokenRecord require_token(const Context& context, const http::Request& request,
                                   std::string_view scope) {
  const auto shown = http::bearer_token(request);
  if (!shown) {
    throw unauthorized(
        "This needs a token: send the header 'Authorization: Bearer …'. "
        "`llmb-report token create` makes one.");
  }
  auto token = context.options.tokens->token_by_hash(http::token_sha256(*shown));
  // One answer for all of these: it must not help to guess.
  const std::string now = dispatch::instant_text(dispatch::wall_now());
  if (!token || token->revoked_at || token->expires_at <= now) {
    throw unauthorized(
        "The token is not known, was revoked, or has expired; `llmb-report token` lists those "
        "there "
        "are and makes new ones.");
  }
  const auto has = [&](std::string_view wanted) {
    return std::find(token->scopes.begin(), token->scopes.end(), wanted) != token->scopes.end();
  };
  if (!has(scope) && !has("admin")) {
    throw RequestError(
        403, "Forbidden",
        "The token '" + token->name + "' lacks the scope '" + std::string(scope) + "'.");
  }
  return std::move(*token);
}

}  // namespace llmb::api
