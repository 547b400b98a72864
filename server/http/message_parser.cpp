// Beast's basic_parser does the grammar; this file decides what is let through.
#include "server/http/message_parser.h"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <limits>
#include <optional>
#include <string>

#include "server/http/target.h"

namespace llmb::http {
namespace {

namespace beast = boost::beast;
using BeastError = beast::error_code;
using View = beast::string_view;

constexpr std::size_t kHeadersMax = 100;
constexpr std::array<std::string_view, 7> kMethods = {"GET",    "HEAD",  "POST",   "PUT",
                                                      "DELETE", "PATCH", "OPTIONS"};

std::string_view view(View text) {
  return {text.data(), text.size()};
}

struct Refusal {
  int status = 0;  // 0: none
  const char* title = "";
  std::string detail;
};

class Parser final : public beast::http::basic_parser<true> {
 public:
  explicit Parser(std::size_t header_bytes_max) : header_bytes_max_(header_bytes_max) {
    header_limit(static_cast<std::uint32_t>(header_bytes_max));
    body_limit(boost::none);  // counted here: the limit is known only once the route is
  }

  Request& request() { return request_; }
  const Refusal& refusal() const { return refusal_; }
  bool is_http_1_0() const { return version_ == 10; }
  bool expects_continue() const { return expects_continue_; }
  void body_bytes_max(std::size_t limit) { body_bytes_max_ = limit; }

  void refuse(int status, const char* title, std::string detail) {
    if (refusal_.status == 0) refusal_ = {status, title, std::move(detail)};
  }

 private:
  // Any error stops the parser; refusal_ says what to answer.
  void refuse(int status, const char* title, std::string detail, BeastError& ec) {
    refuse(status, title, std::move(detail));
    ec = beast::http::error::bad_value;
  }

  void count_header_bytes(std::size_t bytes, BeastError& ec) {
    header_bytes_ += bytes;
    if (header_bytes_ > header_bytes_max_) ec = beast::http::error::header_limit;
  }

  void on_request_impl(beast::http::verb, View method, View target, int version,
                       BeastError& ec) override {
    version_ = version;
    request_.headers.reserve(8);
    request_.method = view(method);
    if (std::find(kMethods.begin(), kMethods.end(), view(method)) == kMethods.end()) {
      return refuse(501, "Method not implemented",
                    "of methods only GET, HEAD, POST, PUT, PATCH and DELETE are served", ec);
    }
    std::string complaint = read_target(view(target), request_);
    if (!complaint.empty()) return refuse(400, "Bad request", std::move(complaint), ec);
    target_names_host_ = !request_.host.empty();
    count_header_bytes(method.size() + target.size() + 12, ec);
  }

  void on_field_impl(beast::http::field name, View name_text, View value, BeastError& ec) override {
    if (in_body_) return;  // trailers say nothing that this server needs
    count_header_bytes(name_text.size() + value.size() + 4, ec);
    if (ec) return;
    if (request_.headers.size() >= kHeadersMax) {
      ec = beast::http::error::header_limit;
      return;
    }
    using beast::http::field;
    if (name == field::host) {
      if (++host_count_ > 1) return refuse(400, "Bad request", "more than one Host header", ec);
      if (!target_names_host_) request_.host = view(value);
    } else if (name == field::content_length) {
      const bool is_number = !value.empty() && value.find_first_not_of("0123456789") == View::npos;
      if (++length_count_ > 1 || !is_number) {
        return refuse(400, "Bad request", "Content-Length must be one number, given once", ec);
      }
    } else if (name == field::transfer_encoding) {
      if (version_ == 10) {
        return refuse(400, "Bad request", "HTTP/1.0 has no Transfer-Encoding", ec);
      }
      if (!beast::iequals(value, "chunked")) {
        return refuse(501, "Not implemented", "of transfer codings only \"chunked\" is served", ec);
      }
    } else if (name == field::expect) {
      if (!beast::iequals(value, "100-continue")) {
        return refuse(417, "Expectation failed", "only 100-continue is known", ec);
      }
      expects_continue_ = version_ > 10;
    }
    std::string lower(view(name_text));
    for (char& c : lower) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    }
    request_.headers.emplace_back(std::move(lower), view(value));
  }

  void on_header_impl(BeastError& ec) override {
    if (version_ == 11 && host_count_ == 0) {
      refuse(400, "Bad request", "HTTP/1.1 requests must have a Host header", ec);
    }
    in_body_ = true;
  }

  void on_body_init_impl(const boost::optional<std::uint64_t>&, BeastError&) override {}

  std::size_t take_body(View bytes, BeastError& ec) {
    if (request_.body.size() + bytes.size() > body_bytes_max_) {
      ec = beast::http::error::body_limit;
      return 0;
    }
    request_.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  std::size_t on_body_impl(View bytes, BeastError& ec) override { return take_body(bytes, ec); }
  std::size_t on_chunk_body_impl(std::uint64_t, View bytes, BeastError& ec) override {
    return take_body(bytes, ec);
  }
  void on_chunk_header_impl(std::uint64_t, View, BeastError&) override {}
  void on_finish_impl(BeastError&) override {}
  void on_response_impl(int, View, int, BeastError&) override {}

  Request request_;
  Refusal refusal_;
  std::size_t header_bytes_max_;
  std::size_t header_bytes_ = 0;
  std::size_t body_bytes_max_ = 0;
  int version_ = 11;
  int host_count_ = 0;
  int length_count_ = 0;
  bool target_names_host_ = false;
  bool expects_continue_ = false;
  bool in_body_ = false;
};

// `rest`: from the line that was refused on.
void refuse_for(const BeastError& ec, std::string_view rest, Parser& parser) {
  using beast::http::error;
  if (ec == error::header_limit) {
    parser.refuse(431, "Request header too large", "the request line and headers are too long");
  } else if (ec == error::body_limit) {
    parser.refuse(413, "Content too large", "the body is longer than this resource accepts");
  } else if (ec == error::bad_version && rest.starts_with("PRI * HTTP/2")) {
    parser.refuse(400, "Bad request", "HTTP/2 is not served here; use HTTP/1.1");
  } else if (ec == error::bad_version) {
    parser.refuse(505, "HTTP version not supported", "HTTP/1.1 and HTTP/1.0 are served");
  } else {
    parser.refuse(400, "Bad request", "the message is not well-formed: " + ec.message());
  }
}

}  // namespace

struct MessageParser::Impl {
  explicit Impl(std::size_t header_bytes_max) : parser(header_bytes_max) {}
  Parser parser;
  bool got_some = false;
  bool header_seen = false;
};

MessageParser::MessageParser(std::size_t header_bytes_max) : header_bytes_max_(header_bytes_max) {}
MessageParser::~MessageParser() = default;

void MessageParser::reset() {
  impl_.reset();
}

MessageParser::Status MessageParser::feed(std::string_view bytes, std::size_t& consumed) {
  consumed = 0;
  if (!impl_) impl_ = std::make_unique<Impl>(header_bytes_max_);
  Parser& parser = impl_->parser;
  if (!impl_->got_some) {
    // RFC 9112 2.2: empty lines before a request line are to be ignored.
    while (bytes.substr(consumed, 2) == "\r\n") consumed += 2;
    if (bytes.size() - consumed < 2) return Status::need_more;
    impl_->got_some = true;
  }
  for (;;) {
    BeastError ec;
    const std::string_view rest = bytes.substr(consumed);
    consumed += parser.put(boost::asio::const_buffer(rest.data(), rest.size()), ec);
    if (ec == beast::http::error::need_more) return Status::need_more;
    if (ec) {
      refuse_for(ec, rest, parser);
      return Status::refused;
    }
    if (parser.is_done()) return Status::complete;
    if (parser.is_header_done() && !impl_->header_seen) {
      impl_->header_seen = true;
      parser.eager(true);
      return Status::header;
    }
    if (consumed == bytes.size()) return Status::need_more;
  }
}

MessageParser::Status MessageParser::set_body_bytes_max(std::size_t body_bytes_max) {
  Parser& parser = impl_->parser;
  parser.body_bytes_max(body_bytes_max);
  const boost::optional<std::uint64_t> announced = parser.content_length();
  if (announced && *announced > body_bytes_max) {
    refuse_for(beast::http::error::body_limit, {}, parser);
    return Status::refused;
  }
  return Status::need_more;
}

Request& MessageParser::request() {
  return impl_->parser.request();
}
bool MessageParser::keep_alive() const {
  return impl_->parser.keep_alive();
}
bool MessageParser::is_http_1_0() const {
  return impl_->parser.is_http_1_0();
}
bool MessageParser::expects_continue() const {
  return impl_->parser.expects_continue();
}

Response MessageParser::problem() const {
  const Refusal& refusal = impl_->parser.refusal();
  return http::problem(refusal.status, refusal.title, refusal.detail);
}

}  // namespace llmb::http
