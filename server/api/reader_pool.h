// ReaderPool: read-only database connections for the server's threads, opened when first needed.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "storage/database.h"

namespace llmb::api {

// Thread-safe. A connection whose use threw is closed, not handed out again: the next request
// opens the file anew, so that a repaired or replaced database is picked up without a restart.
class ReaderPool {
 public:
  explicit ReaderPool(std::string path) : path_(std::move(path)) {}

  // Borrows a connection for the length of `use` and returns what it returns.
  // Throws storage::StorageError where the database cannot be opened or read.
  template <typename Use>
  auto with_reader(Use&& use) {
    std::unique_ptr<storage::Reader> reader = take();
    auto result = use(*reader);
    give_back(std::move(reader));
    return result;
  }

 private:
  std::unique_ptr<storage::Reader> take();
  void give_back(std::unique_ptr<storage::Reader> reader);

  static constexpr std::size_t kIdleReadersMax = 8;
  const std::string path_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<storage::Reader>> idle_;
};

}  // namespace llmb::api
