#include "tests/server/http/raw_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tests/patience.h"

namespace llmb::http {

using Clock = std::chrono::steady_clock;

RawClient::RawClient(std::uint16_t port, int receive_bytes) {
  descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (receive_bytes > 0) {
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
  }
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (descriptor_ < 0 ||
      ::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    const std::string reason = std::strerror(errno);
    if (descriptor_ >= 0) ::close(descriptor_);
    throw std::runtime_error("cannot connect to port " + std::to_string(port) + ": " + reason);
  }
}

RawClient::~RawClient() {
  ::close(descriptor_);
}

bool RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool RawClient::is_answered() const {
  pollfd waiting = {.fd = descriptor_, .events = POLLIN, .revents = 0};
  return !pending_.empty() || ::poll(&waiting, 1, 0) > 0;
}

bool RawClient::receive(Clock::time_point until, bool* is_closed) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
  pollfd waiting = {.fd = descriptor_, .events = POLLIN, .revents = 0};
  if (left.count() <= 0 || ::poll(&waiting, 1, static_cast<int>(left.count()) + 1) <= 0) {
    return false;
  }
  std::array<char, 65536> buffer;
  const ssize_t size = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
  if (size <= 0) {
    was_reset_ = size < 0 && errno == ECONNRESET;
    if (is_closed != nullptr) *is_closed = true;
    return false;
  }
  pending_.append(buffer.data(), static_cast<std::size_t>(size));
  return true;
}

std::string RawClient::read_until(std::string_view mark) {
  const auto until = Clock::now() + kTestPatience;
  std::size_t end = 0;
  while ((end = pending_.find(mark)) == std::string::npos) {
    if (!receive(until)) return std::exchange(pending_, {});
  }
  std::string text = pending_.substr(0, end + mark.size());
  pending_.erase(0, end + mark.size());
  return text;
}

RawResponse RawClient::read_response(bool is_head) {
  RawResponse response;
  response.head = read_until("\r\n\r\n");
  if (!response.head.starts_with("HTTP/1.1 ") || !response.head.ends_with("\r\n\r\n")) {
    return response;
  }
  std::size_t begin = response.head.find("\r\n") + 2;
  while (begin + 2 < response.head.size()) {
    const std::size_t end = response.head.find("\r\n", begin);
    const std::size_t colon = response.head.find(": ", begin);
    std::string name = response.head.substr(begin, colon - begin);
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    response.headers[name] = response.head.substr(colon + 2, end - colon - 2);
    begin = end + 2;
  }
  const auto length = response.headers.find("content-length");
  const std::size_t body_size =
      is_head || length == response.headers.end() ? 0 : std::stoul(length->second);
  while (pending_.size() < body_size) {
    if (!receive(Clock::now() + kTestPatience)) return response;  // status stays 0
  }
  response.body = pending_.substr(0, body_size);
  pending_.erase(0, body_size);
  response.status = std::atoi(response.head.c_str() + 9);
  return response;
}

RawResponse RawClient::request(std::string_view bytes) {
  if (!send(bytes)) return {};
  return read_response(bytes.starts_with("HEAD "));
}

bool RawClient::is_closed_within(std::chrono::milliseconds patience, std::string* rest,
                                 bool* was_reset) {
  const auto until = Clock::now() + patience;
  bool is_closed = false;
  while (receive(until, &is_closed)) {
  }
  if (rest != nullptr) *rest = pending_;
  if (was_reset != nullptr) *was_reset = was_reset_;
  return is_closed;
}

void RawClient::shutdown_sending() {
  ::shutdown(descriptor_, SHUT_WR);
}

std::string get(std::string_view target, std::string_view extra) {
  std::string text = "GET ";
  text.append(target).append(" HTTP/1.1\r\nHost: localhost\r\n").append(extra).append("\r\n");
  return text;
}

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds patience) {
  const auto until = Clock::now() + patience;
  while (!condition()) {
    if (Clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // between looks, not instead
  }
  return true;
}

}  // namespace llmb::http
