#include "server/dispatch/job_files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "parser/foundation/directory_listing.h"
#include "server/dispatch/file_call.h"
#include "server/ingest/root_directory.h"

namespace llmb::dispatch {
namespace {

using ingest::RootDirectory;
using parser::fail;
using parser::Result;

struct Place {
  std::string root;
  std::string relative;
  std::string str() const { return fmt::format("{}/{}", root, relative); }
};

Result<Place> place_of(const std::string& path) {
  std::size_t end = std::string::npos;
  for (const std::string_view folder : {"/experiments/", "/results/"}) {
    const std::size_t at = path.rfind(folder);
    if (at == std::string::npos) continue;
    const std::size_t folder_end = at + folder.size() - 1;
    if (end == std::string::npos || folder_end > end) end = folder_end;
  }
  if (end == std::string::npos) end = path.rfind('/');
  if (path.empty() || path.front() != '/' || end == 0 || end + 1 >= path.size()) {
    return fail(fmt::format("\"{}\" is no place of a job's files: nothing is read there", path));
  }
  return Place{path.substr(0, end), path.substr(end + 1)};
}

std::string reason(int error) {
  if (error == ELOOP) return "it is a link, or lies behind one, and links are not followed";
  if (error == EISDIR || error == ENXIO) return "it is no regular file";
  return std::strerror(error);
}

Result<std::vector<std::string>> list(const Place& place) {
  const auto root = RootDirectory::open(place.root);
  if (!root) return fail(root.error().message);
  std::vector<std::string> names;
  ingest::OpenResult opened = root->open_directory(place.relative);
  if (opened.error == ENOENT) return names;
  if (opened.error != 0) {
    return fail(fmt::format("cannot open {}: {}", place.str(), reason(opened.error)));
  }
  parser::DirectoryListing listing(std::move(opened.fd));
  if (!listing.is_open()) {
    return fail(fmt::format("cannot list {}: {}", place.str(), reason(errno)));
  }
  while (const dirent* const entry = listing.next()) names.emplace_back(entry->d_name);
  return names;
}

Result<parser::FileDescriptor> open(const Place& place) {
  const auto root = RootDirectory::open(place.root);
  if (!root) return fail(root.error().message);
  ingest::OpenResult opened = root->open_file(place.relative);
  if (opened.error != 0 && opened.error != ENOENT) {
    return fail(fmt::format("cannot open {}: {}", place.str(), reason(opened.error)));
  }
  return std::move(opened.fd);
}

Result<FilePiece> read(const Place& place, std::optional<std::int64_t> offset,
                       std::int64_t bytes_max) {
  const auto file = open(place);
  if (!file) return tl::unexpected(file.error());
  FilePiece piece;
  piece.offset = offset.value_or(0);
  if (!file->is_open()) return piece;
  struct stat found {};
  if (fstat(file->get(), &found) != 0) {
    return fail(fmt::format("cannot examine {}: {}", place.str(), reason(errno)));
  }
  piece.size_bytes = found.st_size;
  piece.offset = offset.value_or(std::max<std::int64_t>(0, piece.size_bytes - bytes_max));
  const std::int64_t left = std::max<std::int64_t>(0, piece.size_bytes - piece.offset);
  piece.text.resize(static_cast<std::size_t>(std::min(bytes_max, left)));
  std::size_t done = 0;
  while (done < piece.text.size()) {
    const ssize_t got = pread(file->get(), piece.text.data() + done, piece.text.size() - done,
                              static_cast<off_t>(piece.offset + static_cast<std::int64_t>(done)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(fmt::format("cannot read {}: {}", place.str(), reason(errno)));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  piece.text.resize(done);
  return piece;
}

}  // namespace

Result<std::vector<std::string>> names_in(const std::string& folder) {
  auto place = place_of(folder);
  if (!place) return tl::unexpected(place.error());
  return ask_file_system<std::vector<std::string>>(
      folder, [place = *std::move(place)] { return list(place); });
}

Result<FilePiece> read_piece(const std::string& file, std::optional<std::int64_t> offset,
                             std::int64_t bytes_max) {
  auto place = place_of(file);
  if (!place) return tl::unexpected(place.error());
  return ask_file_system<FilePiece>(file, [place = *std::move(place), offset, bytes_max] {
    return read(place, offset, bytes_max);
  });
}

Result<parser::FileDescriptor> open_job_file(const std::string& file) {
  auto place = place_of(file);
  if (!place) return tl::unexpected(place.error());
  return ask_file_system<parser::FileDescriptor>(
      file, [place = *std::move(place)] { return open(place); });
}

}  // namespace llmb::dispatch
