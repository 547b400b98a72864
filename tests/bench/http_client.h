// What the benchmarks of the API ask with: one keep-alive connection, one request at a time. Ends
// the program where an answer is not what it has to be.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace llmb::bench {

[[noreturn]] inline void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      give_up("cannot connect to the server");
    }
  }
  ~Client() { close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send_text(const std::string& text) {
    if (send(socket_, text.data(), text.size(), MSG_NOSIGNAL) < 0) give_up("cannot send");
  }
  void send_request(const std::string& target) {
    send_text("GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }

  // Reads on until `mark` has come; what came up to it is forgotten.
  void read_until(const std::string& mark) {
    std::size_t found = std::string::npos;
    while ((found = unread_.find(mark)) == std::string::npos) receive(unread_);
    unread_.erase(0, found + mark.size());
  }

  // The body of an answer with status 200.
  std::string get(const std::string& target) {
    send_request(target);
    std::string text;
    std::size_t head = std::string::npos;
    while ((head = text.find("\r\n\r\n")) == std::string::npos) receive(text);
    if (text.rfind("HTTP/1.1 200", 0) != 0) give_up(target + ": " + text);
    const std::size_t at = text.find("Content-Length: ");
    if (at == std::string::npos) give_up(target + ": no length");
    const std::size_t length = std::strtoull(text.c_str() + at + 16, nullptr, 10);
    while (text.size() < head + 4 + length) receive(text);
    return text.substr(head + 4);
  }

  // Reads the answer to the request that was sent; how many bytes its body had.
  std::size_t read_and_forget() {
    std::string head;
    while (head.find("\r\n\r\n") == std::string::npos) receive(head);
    if (head.rfind("HTTP/1.1 200", 0) != 0) give_up(head);
    const std::size_t at = head.find("Content-Length: ");
    if (at == std::string::npos) give_up("no length: " + head);
    const std::size_t length = std::strtoull(head.c_str() + at + 16, nullptr, 10);
    std::size_t received = head.size() - head.find("\r\n\r\n") - 4;
    while (received < length) {
      std::string piece;
      receive(piece);
      received += piece.size();
    }
    return length;
  }

 private:
  void receive(std::string& text) {
    const ssize_t count = recv(socket_, buffer_.data(), buffer_.size(), 0);
    if (count <= 0) give_up("the connection ended");
    text.append(buffer_.data(), static_cast<std::size_t>(count));
  }
  int socket_;
  std::string unread_;
  std::array<char, std::size_t{1} << 16U> buffer_{};
};

inline double milliseconds_since(std::chrono::steady_clock::time_point began) {
  const auto taken = std::chrono::steady_clock::now() - began;
  return std::chrono::duration<double, std::milli>(taken).count();
}

inline double percentile(std::vector<double> values, double fraction) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(fraction * static_cast<double>(values.size() - 1))];
}

}  // namespace llmb::bench
