#include "server/push/push_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "parser/foundation/parse_number.h"
#include "parser/foundation/text.h"
#include "server/http/compression.h"
#include "server/push/json_fields.h"
#include "server/push/log_text_request.h"
#include "server/push/packed_telling.h"

namespace llmb::push {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kRetryAfterMaxS = 300;
constexpr std::size_t kQuotedBytesMax = 500;

// The file's first line; empty where there is none.
std::string read_token(const std::string& file) {
  std::ifstream input(file);
  std::string line;
  std::getline(input, line);
  return std::string(parser::trimmed(line, " \t\r"));
}

// A name in a query: cluster and store have nothing else.
std::string encoded(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool is_plain = parser::is_letter(c) || parser::is_digit(c) || c == '.' || c == '-';
    result += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return result;
}

// The detail of a problem response, else the first line of the body: it is no llmb-report's.
std::string detail_of(const std::string& body) {
  const Json json = Json::parse(body, nullptr, false);
  const auto detail = json.is_object() ? json.find("detail") : json.end();
  if (json.is_object() && detail != json.end() && detail->is_string()) {
    return detail->get<std::string>();
  }
  const std::size_t begin = std::min(body.find_first_not_of(" \t\r\n"), body.size());
  const std::string line =
      body.substr(begin, std::min(body.find_first_of("\r\n", begin) - begin, kQuotedBytesMax));
  return fmt::format("{}, which llmb-report does not say: is the URL that of `llmb-report serve`?",
                     line.empty() ? "nothing" : "'" + line + "'");
}

storage::PushResult read_result(const Json& json) {
  const JsonFields fields(json, "results");
  storage::PushResult result;
  result.verdict = fields.read_named("verdict", push_verdict_from_name);
  fields.read("revision", result.revision);
  fields.read("step_count", result.step_count);
  return result;
}

storage::HeldLog read_held(const Json& json) {
  const JsonFields fields(json, "logs");
  storage::HeldLog log;
  fields.read("root", log.root_path);
  fields.read("relative_path", log.relative_path);
  fields.read("generation", log.generation);
  fields.read("revision", log.revision);
  fields.read("step_count", log.step_count);
  fields.read("text_bytes", log.text_bytes);
  return log;
}

// `read` takes the body's fields; what it throws becomes the answer's trouble.
template <typename Read>
void read_body(const std::string& body, LinkAnswer& answer, const Read& read) {
  try {
    const Json json = Json::parse(body);
    const JsonFields fields(json, "the answer");
    fields.read("instance", answer.instance);
    read(fields);
  } catch (const std::exception& error) {
    answer.trouble = fmt::format("the server's answer is not understood: {}", error.what());
  }
}

// What the status of an answer means for the next request.
void read_status(const http::ClientResponse& response, milliseconds forbidden_rest,
                 LinkAnswer& answer) {
  answer.trouble =
      fmt::format("the server answers {}: {}", response.status, detail_of(response.body));
  switch (response.status) {
    case 400:
    case 413:
    case 422:
      answer.is_refused = true;
      return;
    case 401:
    case 403:
      answer.is_forbidden = true;
      [[fallthrough]];
    case 404:
    case 409:
    case 501:
      answer.rest = forbidden_rest;  // until somebody has done something
      return;
    case 503:
      answer.is_busy = true;
      break;
    default:
      break;
  }
  const auto seconds = parser::parse_integer(response.retry_after);
  if (seconds) {
    answer.rest = std::chrono::seconds(std::clamp<std::int64_t>(*seconds, 1, kRetryAfterMaxS));
  }
}

}  // namespace

PushLink::PushLink(const PushOptions& options, std::string store_id, const std::atomic<bool>& stop)
    : options_(options),
      client_({.url = options.server, .ca_file = options.ca_file}),
      store_id_(std::move(store_id)),
      stop_(stop) {}

void PushLink::say_behind(std::int64_t logs_pending, std::optional<parser::Instant> since) {
  logs_pending_ = logs_pending;
  pending_since_ = since;
}

std::string PushLink::ask(http::ClientRequest request, LinkAnswer& answer) const {
  const std::string token = read_token(options_.token_file);
  if (token.empty()) {
    answer.trouble = fmt::format("cannot read a token from {}", options_.token_file);
    answer.is_forbidden = true;
    answer.rest = options_.forbidden_rest;
    return {};
  }
  request.headers.emplace_back("Authorization", "Bearer " + token);
  request.headers.emplace_back(kStoreHeader, store_id_);
  auto response = client_.send(request, stop_);
  if (!response) {
    answer.trouble = response.error().message;
    return {};
  }
  if (response->status == 200) return std::move(response->body);
  read_status(*response, options_.forbidden_rest, answer);
  return {};
}

LinkAnswer PushLink::held_logs(std::int64_t after) const {
  LinkAnswer answer;
  const std::string body =
      ask({.target = fmt::format("/api/v1/push?cluster={}&store_id={}&after={}",
                                 encoded(options_.cluster), encoded(store_id_), after)},
          answer);
  if (!answer.trouble.empty()) return answer;
  read_body(body, answer, [&](const JsonFields& fields) {
    for (const Json& log : fields.array("logs")) answer.held.push_back(read_held(log));
    fields.read("next_after", answer.next_after);
  });
  return answer;
}

PushHead PushLink::head() const {
  return {.cluster = options_.cluster,
          .store_id = store_id_,
          .agent = options_.machine,
          .version = options_.version,
          .logs_pending = logs_pending_,
          .pending_since = pending_since_ ? parser::instant_text(*pending_since_) : "",
          .sent_at = parser::instant_text(
              std::chrono::floor<parser::Instant::duration>(std::chrono::system_clock::now()))};
}

std::string PushLink::body(const std::vector<std::string>& logs) const {
  return http::compress(packed_request(head(), logs), http::Encoding::zstd, http::Effort::once);
}

std::string PushLink::last_body() const {
  PushHead last = head();
  last.is_last = true;
  return http::compress(packed_request(last, {}), http::Encoding::zstd, http::Effort::once);
}

LinkAnswer PushLink::send(std::string body) const {
  LinkAnswer answer;
  const std::string answered =
      ask({.method = "POST",
           .target = "/api/v1/push",
           .headers = {{"Content-Type", kContentType}, {"Content-Encoding", "zstd"}},
           .body = std::move(body)},
          answer);
  if (!answer.trouble.empty()) return answer;
  read_body(answered, answer, [&](const JsonFields& fields) {
    for (const Json& result : fields.array("results")) {
      answer.results.push_back(read_result(result));
    }
  });
  return answer;
}

LinkAnswer PushLink::send_text(const std::vector<storage::LogBlockTelling>& blocks) const {
  LinkAnswer answer;
  const std::string answered = ask({.method = "POST",
                                    .target = "/api/v1/push/text",
                                    .headers = {{"Content-Type", kTextContentType}},
                                    .body = packed_text_request(head(), blocks)},
                                   answer);
  if (!answer.trouble.empty()) return answer;
  read_body(answered, answer, [&](const JsonFields& fields) {
    for (const Json& end : fields.array("text_bytes")) {
      read_value(end, "text_bytes", answer.text_ends.emplace_back());
    }
    if (answer.text_ends.size() != blocks.size())
      storage::refuse_field("text_bytes", "of each block");
  });
  return answer;
}

}  // namespace llmb::push
