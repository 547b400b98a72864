#include "tests/server/serve/daemon_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "tests/patience.h"

namespace llmb::cli {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream input(path, std::ios::binary);
  std::ostringstream text;
  text << input.rdbuf();
  return text.str();
}

}  // namespace

bool wait_until(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kTestPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

std::string Answer::header(const std::string& name) const {
  const std::size_t begin = head.find("\r\n" + name + ": ");
  if (begin == std::string::npos) return "";
  const std::size_t value = begin + name.size() + 4;
  return head.substr(value, head.find("\r\n", value) - value);
}

Connection::Connection(int port) : descriptor_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const timeval patience{kTestPatience.count(), 0};
  setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    close(descriptor_);
    descriptor_ = -1;
  }
}

Connection::~Connection() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool Connection::send(const std::string& bytes) const {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t count =
        ::send(descriptor_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

std::string Connection::receive(const std::string& until) const {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t count = recv(descriptor_, buffer, sizeof buffer, 0);
    if (count < 0 && errno == EINTR) continue;  // another thread started a process
    if (count <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
    if (!until.empty() && text.find(until) != std::string::npos) return text;
  }
}

DaemonProcess::DaemonProcess(const std::filesystem::path& folder,
                             const std::vector<std::string>& arguments,
                             const Environment& environment, const std::string& command) {
  static int count = 0;
  const std::string number = std::to_string(++count);
  output_file_ = folder / ("stdout-" + number);
  errors_file_ = folder / ("stderr-" + number);
  std::vector<std::string> words = {LLMB_REPORT_PROGRAM, command};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = {"HOME=" + folder.string(), "PATH=/usr/bin:/bin"};
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  // The sanitizers' own settings must reach the program under test.
  for (const char* name : {"ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"}) {
    if (const char* value = std::getenv(name)) variables.push_back(std::string(name) + "=" + value);
  }
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<char*> envp;
  for (std::string& variable : variables) envp.push_back(variable.data());
  envp.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, output_file_.c_str(), kFlags, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, errors_file_.c_str(), kFlags, 0600);
  const int error =
      posix_spawn(&process_, LLMB_REPORT_PROGRAM, &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot start " LLMB_REPORT_PROGRAM);
}

DaemonProcess::~DaemonProcess() {
  if (has_ended()) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

bool DaemonProcess::has_ended() {
  if (wait_status_) return true;
  int status = 0;
  if (waitpid(process_, &status, WNOHANG) != process_) return false;
  wait_status_ = status;
  return true;
}

int DaemonProcess::port() {
  const std::string mark = "  serving   http://127.0.0.1:";
  std::size_t begin = std::string::npos;
  const bool is_listening = wait_until([&] {
    begin = output().find(mark);
    return (begin != std::string::npos && output().find("Ctrl-C", begin) != std::string::npos) ||
           has_ended();
  });
  if (!is_listening || begin == std::string::npos) return 0;
  return std::atoi(output().c_str() + begin + mark.size());
}

int DaemonProcess::exit_code() {
  if (!wait_until([&] { return has_ended(); })) return -1;
  return WIFEXITED(*wait_status_) ? WEXITSTATUS(*wait_status_) : -1;
}

int DaemonProcess::stop(int signal) {
  if (!has_ended()) kill(process_, signal);
  return exit_code();
}

std::string DaemonProcess::output() const {
  return read_file(output_file_);
}
std::string DaemonProcess::errors() const {
  return read_file(errors_file_);
}

Answer DaemonProcess::get(const std::string& target, const std::string& headers) {
  const Connection connection(port());
  connection.send("GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
                  headers + "\r\n");
  const std::string text = connection.receive();
  const std::size_t end = text.find("\r\n\r\n");
  if (end == std::string::npos || text.rfind("HTTP/1.1 ", 0) != 0) return {};
  return {std::atoi(text.c_str() + 9), text.substr(0, end + 2), text.substr(end + 4)};
}

}  // namespace llmb::cli
