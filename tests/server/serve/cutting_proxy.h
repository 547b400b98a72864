// CuttingProxy: carries the bytes of one client after the other to a server of this machine and
// back, until as many have passed as the test says: then it drops the connection, in the middle of
// whatever it is, and what the test wants to happen at that byte happens.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace llmb::cli {

class CuttingProxy {
 public:
  explicit CuttingProxy(int server_port);
  ~CuttingProxy();  // drops what it carries
  CuttingProxy(const CuttingProxy&) = delete;
  CuttingProxy& operator=(const CuttingProxy&) = delete;

  int port() const { return port_; }
  // From now on, once: after `bytes` of both directions together. `action` is called by the proxy's
  // thread, before the connection is dropped.
  void cut_after(std::size_t bytes, std::function<void()> action = {});
  bool has_cut() const;  // since the last cut_after()

 private:
  enum class End { closed, cut };

  void serve();
  End carry(int client, int server);
  // What `from` has sent just now; an end where there is one.
  std::optional<End> pass_on(int from, int to);

  const int server_port_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> is_stopping_ = false;
  mutable std::mutex mutex_;  // guards what follows
  bool is_armed_ = false;
  std::size_t bytes_left_ = 0;
  std::function<void()> action_;
  std::thread thread_;
};

}  // namespace llmb::cli
