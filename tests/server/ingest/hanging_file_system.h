// A folder whose file system stops answering, as a mount does whose server is gone: calls below it
// block until it answers again. Put between the program and the kernel where the linker does
// (this program's getdents64 and pread stand before libc's), so that what runs is what users run.
#pragma once

#include <string>

namespace llmb::ingest {

class HangingFileSystem {
 public:
  enum class Calls { listings, reads };
  HangingFileSystem(const std::string& folder, Calls calls);
  ~HangingFileSystem();  // answers again
  HangingFileSystem(const HangingFileSystem&) = delete;
  HangingFileSystem& operator=(const HangingFileSystem&) = delete;

  void answer_again();
  static int calls_that_hang();
};

}  // namespace llmb::ingest
