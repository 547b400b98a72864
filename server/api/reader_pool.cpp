#include "server/api/reader_pool.h"

namespace llmb::api {

std::unique_ptr<storage::Reader> ReaderPool::take() {
  {
    const std::scoped_lock lock(mutex_);
    while (!idle_.empty()) {
      std::unique_ptr<storage::Reader> reader = std::move(idle_.back());
      idle_.pop_back();
      if (reader->is_current()) return reader;
    }
  }
  return std::make_unique<storage::Reader>(path_);
}

void ReaderPool::give_back(std::unique_ptr<storage::Reader> reader) {
  const std::scoped_lock lock(mutex_);
  if (idle_.size() < kIdleReadersMax) idle_.push_back(std::move(reader));
}

}  // namespace llmb::api
