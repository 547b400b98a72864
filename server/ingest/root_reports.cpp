#include "server/ingest/root_reports.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstring>

#include "parser/foundation/instant.h"
#include "parser/foundation/safe_text.h"
#include "server/ingest/memory_shortage.h"

namespace llmb::ingest {
namespace {

constexpr std::chrono::hours kBetweenLogLines{1};
constexpr std::chrono::minutes kBetweenScanRecords{1};

// What files are called is up to whoever may write into the tree.
template <typename... Values>
void warn(fmt::format_string<const Values&...> format, const Values&... values) {
  spdlog::warn("{}", parser::safe_text(fmt::format(format, values...)));
}

}  // namespace

void RootReports::scan_ended(std::chrono::steady_clock::duration work, std::int64_t files_seen) {
  if (root_.error.empty()) {
    logged_at_.erase(root_.path);
  } else if (may_log_again(root_.path)) {
    warn("{}{}", root_.error, is_followed_ ? "; every scan tries it again" : "");
  }
  // A scan that found nothing new is recorded once a minute only.
  const SteadyTime now = clock_.steady();
  std::string record = fmt::format("{} {}", files_seen, root_.error);
  if (scan_recorded_ == record && now - scan_recorded_at_ < kBetweenScanRecords) return;
  scan_recorded_ = std::move(record);
  scan_recorded_at_ = now;
  writes_.push_at_once(ScanRecord{root_.id, parser::instant_text(clock_.wall()),
                                  std::chrono::duration<double>(work).count(), files_seen,
                                  root_.error});
}

void RootReports::cannot_list(const UnreadableDirectory& directory) {
  if (!may_log_again(root_.path + '/' + directory.relative_path)) return;
  warn("{}/{}: cannot list it: {}; the logs in it are not seen", root_.path,
       directory.relative_path, std::strerror(directory.error));
}

void RootReports::cannot_read_database(const std::string& error) {
  if (may_log_again("database")) warn("the database cannot be read just now: {}", error);
}

void RootReports::lacks_memory() {
  had_memory_for([&] {
    if (may_log_again("memory")) {
      warn("{}: there is no memory left; what could not be done now is done later", root_.path);
    }
  });
}

void RootReports::advise(const std::string& advice) {
  warn("{}: {}", root_.path, advice);
}

void RootReports::parked(const FileState& file, const std::string& reason,
                         std::chrono::milliseconds rest) {
  if (may_log_again(root_.path + '/' + file.relative_path)) {
    const std::string next = is_followed_
                                 ? fmt::format("the next try is in {} s", rest.count() / 1'000)
                                 : "the next ingest tries it again";
    warn("{}/{}: {}; {}", root_.path, file.relative_path, reason, next);
  }
  const WallTime wall = clock_.wall();
  writes_.push_at_once(storage::ParkedFile{root_.id, file.relative_path, reason,
                                           parser::instant_text(wall),
                                           parser::instant_text(wall + rest), file.failures});
}

void RootReports::unparked(const std::string& relative_path) {
  writes_.push_at_once(UnparkedFile{root_.id, relative_path});
}

void RootReports::reads_in_part(const std::string& relative_path, const std::string& flaw) {
  if (!may_log_again(root_.path + '/' + relative_path + " in part")) return;
  warn("{}/{}: {}; it was read up to there, and is read again when it changes", root_.path,
       relative_path, flaw);
}

void RootReports::leaves_compressed(const std::string& relative_path) {
  if (!may_log_again("unread compressed logs")) return;
  warn(
      "{}/{}: a log that is compressed otherwise than by gzip, zstd, xz or bzip2 is not read; nor "
      "are others of this root. Unpack it to have its run",
      root_.path, relative_path);
}

void RootReports::keeps_compressed(const std::string& relative_path) {
  if (!may_log_again("compressed logs")) return;
  const std::string name = parser::safe_text(fmt::format("{}/{}", root_.path, relative_path));
  spdlog::info("{}: was compressed; its run stays, and so do others of this root", name);
}

void RootReports::leaves_as_told(const std::string& relative_path,
                                 const std::string& refusal_words) {
  if (!may_log_again("logs of an earlier reading " + refusal_words)) return;
  warn("{}/{}: a log {} stays as an earlier version told it; so may others of this root",
       root_.path, relative_path, refusal_words);
}

void RootReports::leaves_link(const std::string& relative_path) {
  if (!may_log_again("links")) return;
  warn(
      "{}/{}: a link out of the root is not followed; nor are others of this root. Name what it "
      "leads to as a root to have the logs there",
      root_.path, relative_path);
}

void RootReports::vanished(const std::string& relative_path) {
  writes_.push_at_once(VanishedFile{root_.id, relative_path, parser::instant_text(clock_.wall())});
}

void RootReports::returned(const std::string& relative_path) {
  writes_.push_at_once(ReturnedFile{root_.id, relative_path});
}

void RootReports::publish(const FileTable& files, bool first_scan_done) {
  const FileTable::Sums& sums = files.sums();
  activity_.update([&](RootStatus& status) {
    status.first_scan_done = first_scan_done;
    status.files_seen = static_cast<std::int64_t>(files.size()) - sums.vanished;
    status.files_pending = sums.queued;
    status.files_parked = sums.parked;
    status.files_of_earlier_reading = sums.of_earlier_reading;
    status.rereads_left = sums.rereads_left;
    status.bytes_pending = sums.pending_bytes;
    status.error = root_.error;
  });
}

bool RootReports::may_log_again(const std::string& key) {
  const SteadyTime now = clock_.steady();
  const auto [entry, is_new] = logged_at_.try_emplace(key, now);
  if (!is_new && now - entry->second < kBetweenLogLines) return false;
  entry->second = now;
  return true;
}

}  // namespace llmb::ingest
