// OpenLog: a log as a reader has it open, and where its text is: in the file itself, or in what was
// unpacked of it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "parser/foundation/file_descriptor.h"
#include "parser/result.h"
#include "server/ingest/root_directory.h"
#include "server/unpacking/packing.h"
#include "server/unpacking/unpacked_text.h"

namespace llmb::ingest {

// The names of what can be unpacked of a log, which may be one of them itself; the first that is
// there is read.
std::array<std::string, unpacking::kSuffixes.size()> packed_names_of(std::string_view path);

struct OpenLog {
  parser::FileDescriptor file;
  FileFacts facts;  // of the file, compressed as it may be
  unpacking::Packing packing = unpacking::Packing::none;
  bool is_packed_form = false;  // of a log that is not there itself

  bool is_packed() const { return packing != unpacking::Packing::none; }
};

struct LogFile {
  parser::FileDescriptor fd;
  int error = 0;  // errno
  std::string relative_path;
  bool is_packed_form = false;
};
// `or_packed_form`: where there is no such file, that of it which can be unpacked. Where none can
// be opened, but one is there, the error is that one's.
LogFile open_log_file(const RootDirectory& root, const std::string& relative_path,
                      bool or_packed_form);

// Whether it is compressed its first bytes say, whatever its name.
parser::Result<OpenLog> examine_log(LogFile file);

// Where the texts of logs are read. Keeps that of the compressed log which was asked for last:
// unpacking takes longer than reading, and a long log is read in several jobs.
class LogTexts {
 public:
  struct Text {
    int fd = -1;       // stands as long as the log does and until the next call of either
    std::string flaw;  // as that of an UnpackedText
  };
  // `goes_on` is asked while a log is unpacked; false ends it with an error.
  parser::Result<Text> of(const OpenLog& log, const std::function<bool()>& goes_on);
  void forget() { unpacked_ = {}; }

 private:
  struct Unpacked {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t changed_ns = 0;
    unpacking::UnpackedText text;
  };
  Unpacked unpacked_;
};

}  // namespace llmb::ingest
