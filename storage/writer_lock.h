// WriterLock: keeps a second writer process away from a database, by an advisory lock on the file
// `<database>.lock` beside it, and by a name in the kernel for the database's inode, which holds
// where the lock file was deleted or the database has a second name. The kernel drops both when the
// process ends, however it ends; the file stays, and holds the process id of the last one.
#pragma once

#include <string>

namespace llmb::storage {

class WriterLock {
 public:
  // Throws StorageError: busy_elsewhere, naming the process that holds it, or io.
  explicit WriterLock(const std::string& database_path);
  // To be called once the database has been created; the constructor does it where it is there.
  // Throws StorageError busy_elsewhere. Processes in another network namespace (a container's) have
  // names of their own: among those the lock file alone counts.
  void hold_inode();
  ~WriterLock();
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  std::string database_path_;
  int descriptor_ = -1;
  int name_ = -1;  // a socket that is bound to the inode's name
};

}  // namespace llmb::storage
