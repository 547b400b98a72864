#include "tests/server/serve/cutting_proxy.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <utility>

namespace llmb::cli {
namespace {

constexpr int kBetweenLooksAtStopMs = 50;

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Without a farewell: the peer sees a reset where bytes are still under way.
void drop(int descriptor) {
  const linger at_once{1, 0};
  setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close(descriptor);
}

void end(int descriptor) {
  shutdown(descriptor, SHUT_RDWR);
  close(descriptor);
}

}  // namespace

CuttingProxy::CuttingProxy(int server_port)
    : server_port_(server_port), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_, generic, size) != 0 || listen(listener_, 16) != 0 ||
      getsockname(listener_, generic, &size) != 0) {
    close(listener_);
    throw std::runtime_error("the proxy cannot listen");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

CuttingProxy::~CuttingProxy() {
  is_stopping_ = true;
  thread_.join();
  close(listener_);
}

void CuttingProxy::cut_after(std::size_t bytes, std::function<void()> action) {
  const std::lock_guard lock(mutex_);
  is_armed_ = true;
  bytes_left_ = bytes;
  action_ = std::move(action);
}

bool CuttingProxy::has_cut() const {
  const std::lock_guard lock(mutex_);
  return !is_armed_;
}

void CuttingProxy::serve() {
  while (!is_stopping_) {
    pollfd waits{listener_, POLLIN, 0};
    if (poll(&waits, 1, kBetweenLooksAtStopMs) <= 0) continue;
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(server_port_);
    const bool is_there =
        connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    const bool is_cut = is_there && carry(client, server) == End::cut;
    for (const int descriptor : {server, client}) is_cut ? drop(descriptor) : end(descriptor);
  }
}

CuttingProxy::End CuttingProxy::carry(int client, int server) {
  while (!is_stopping_) {
    std::array<pollfd, 2> waits = {pollfd{client, POLLIN, 0}, pollfd{server, POLLIN, 0}};
    if (poll(waits.data(), waits.size(), kBetweenLooksAtStopMs) <= 0) continue;
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (waits.at(i).revents == 0) continue;
      const auto end = pass_on(i == 0 ? client : server, i == 0 ? server : client);
      if (end) return *end;
    }
  }
  return End::cut;
}

std::optional<CuttingProxy::End> CuttingProxy::pass_on(int from, int to) {
  std::array<char, 4096> buffer{};
  const ssize_t got = recv(from, buffer.data(), buffer.size(), 0);
  if (got <= 0) return End::closed;
  const std::lock_guard lock(mutex_);
  std::size_t length = static_cast<std::size_t>(got);
  if (is_armed_) length = std::min(length, bytes_left_);
  for (std::size_t sent = 0; sent < length;) {
    const ssize_t count = send(to, buffer.data() + sent, length - sent, MSG_NOSIGNAL);
    if (count <= 0) return End::closed;
    sent += static_cast<std::size_t>(count);
  }
  if (!is_armed_) return std::nullopt;
  bytes_left_ -= length;
  if (bytes_left_ > 0) return std::nullopt;
  if (action_) action_();
  is_armed_ = false;
  return End::cut;
}

}  // namespace llmb::cli
