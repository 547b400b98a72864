// WriterLock: keeps a second writer process away from a database, by an advisory lock on the file
// `<database>.lock` beside it. The kernel drops the lock when the process ends, however it ends;
// the file stays, and holds the process id of whoever locked it last.
#pragma once

#include <string>

namespace llmb::storage {

class WriterLock {
 public:
  // Throws StorageError: busy_elsewhere, naming the process that holds it, or io.
  explicit WriterLock(const std::string& database_path);
  ~WriterLock();
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace llmb::storage
