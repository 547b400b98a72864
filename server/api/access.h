// Who may write: a request's bearer token against those that the database knows.
#pragma once

#include <string>
#include <string_view>

#include "server/api/context.h"
#include "server/http/message.h"
#include "storage/job_records.h"

namespace llmb::api {

// The name of a token that the configuration lets submit. Throws as below.
std::string require_submitter(const Context& context, const http::Request& request);

// The token. Throws RequestError: 401 without a valid one, 403 where it lacks the
// scope. A token with the scope `admin` has every other.
storage::TokenRecord require_token(const Context& context, const http::Request& request,
                                   std::string_view scope);

// The same, of which only the name is wanted.
std::string require_scope(const Context& context, const http::Request& request,
                          std::string_view scope);

}  // namespace llmb::api
