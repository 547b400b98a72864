// A real `llmb-report serve` process (or another command's), and a client that speaks to it byte by
// byte.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace llmb::cli {

// Until `condition` holds; false when patience ran out.
bool wait_until(const std::function<bool()>& condition);

struct Answer {
  int status = 0;  // 0: no answer
  std::string head;
  std::string body;
  nlohmann::json json() const { return nlohmann::json::parse(body); }
  std::string header(const std::string& name) const;
};

class Connection {
 public:
  explicit Connection(int port);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool send(const std::string& bytes) const;
  // Until the peer closes or `until` is part of what came; nothing more where patience runs out.
  std::string receive(const std::string& until = "") const;

 private:
  int descriptor_ = -1;
};

class DaemonProcess {
 public:
  using Environment = std::vector<std::pair<std::string, std::string>>;

  // Output goes to files in `folder`. The environment holds `environment`, PATH and HOME only.
  DaemonProcess(const std::filesystem::path& folder, const std::vector<std::string>& arguments,
                const Environment& environment = {}, const std::string& command = "serve");
  ~DaemonProcess();  // SIGKILL where it still runs
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  int port();                  // waits until it listens; 0 where it ended instead
  int exit_code();             // waits for the end; -1 where it does not come, or by a signal
  int stop(int signal);        // exit_code() after that signal
  std::string output() const;  // what stdout has so far
  std::string errors() const;  // and stderr

  Answer get(const std::string& target, const std::string& headers = "");

 private:
  bool has_ended();

  std::filesystem::path output_file_;
  std::filesystem::path errors_file_;
  pid_t process_ = -1;
  std::optional<int> wait_status_;
};

}  // namespace llmb::cli
