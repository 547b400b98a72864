// GET /api/v1/runs/{id}/log/text and /api/v1/jobs/{id}/log/text: the whole of a log, to be kept as
// a file. It is read while it is sent, and its bytes are not touched.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "server/api/attachment.h"
#include "server/api/found_log.h"
#include "server/api/job_lookup.h"
#include "server/api/pushed_text.h"
#include "server/api/query_parameters.h"
#include "server/api/resources.h"
#include "server/api/tagged_response.h"
#include "server/dispatch/file_call.h"
#include "server/dispatch/job_files.h"
#include "server/ingest/log_stream.h"
#include "server/ingest/log_text.h"

namespace llmb::api {
namespace {

using LogStream = std::shared_ptr<ingest::LogStream>;
using NextPiece = std::function<std::string()>;

// Where a file is, and which calls count with those into it (file_call.h).
struct FilePlace {
  std::string path;
  std::string tree;
  // What is answered where the file turns out to be another.
  std::function<RequestError(const std::string& why)> changed;
};

// A file system that does not answer is not waited for.
template <typename Value>
Value ask(const FilePlace& place, std::function<parser::Result<Value>()> call) {
  auto answer = dispatch::ask_file_system<Value>(place.path, std::move(call),
                                                 dispatch::kFilePatience, place.tree);
  if (!answer) throw cannot_read_log(answer.error().message);
  return *std::move(answer);
}

template <typename Value>
Value answer_of(const FilePlace& place, ingest::LogStream::Answer<Value> answer) {
  if (answer) return *std::move(answer);
  if (answer.error().is_other_log) throw place.changed(answer.error().message);
  throw cannot_read_log(answer.error().message);
}

LogStream begin_stream(const FilePlace& place, const storage::LogCursor& cursor,
                       const std::function<ingest::OpenLog()>& open) {
  return ask<LogStream>(place, [place, cursor, open]() -> parser::Result<LogStream> {
    return answer_of(place, ingest::LogStream::begin(open(), cursor));
  });
}

// The calls own the stream, for one that does not come back goes on with it.
NextPiece pieces_of(const FilePlace& place, const LogStream& stream) {
  return [place, stream] {
    return ask<std::string>(place, [place, stream]() -> parser::Result<std::string> {
      return answer_of(place, stream->next());
    });
  };
}

// The first piece is read at once: what is wrong with the log is known by then, mostly, and can
// still be the answer.
http::Response download(std::string etag, const std::string& name, const NextPiece& next,
                        std::optional<std::uint64_t> size_bytes) {
  const auto first = std::make_shared<std::optional<std::string>>(next());
  http::Response response;
  response.content_type = "text/plain";
  response.etag = std::move(etag);
  response.stream.next = [first, next] {
    return *first ? *std::exchange(*first, std::nullopt) : next();
  };
  response.stream.size_bytes = size_bytes;
  response.headers = {attachment_header(name), {"Accept-Ranges", "none"}};
  return response;
}

std::string file_etag(const Context& context, const std::string& of,
                      const ingest::FileFacts& facts) {
  return fmt::format(
      "{}-log{}", context.instance,
      hash_text(fmt::format("{}:{}:{}:{}", of, facts.inode, facts.size_bytes, facts.modified_ns)));
}

http::Response download_watched(const Context& context, const WatchedLog& log) {
  const FilePlace place{log.path(), log.root_path,
                        [](const std::string&) { return log_changed(); }};
  const LogStream stream = begin_stream(place, log.cursor, [log] {
    auto opened = ingest::examine_log(open_watched(log));
    if (!opened) throw cannot_read_log(opened.error().message);
    return *std::move(opened);
  });
  return download(file_etag(context, place.path, stream->facts()),
                  ingest::text_file_name(log.relative_path), pieces_of(place, stream),
                  stream->size_bytes());
}

http::Response download_pushed(Context& context, const PushedLog& log) {
  const auto text = std::make_shared<PushedText>(context.readers, log);
  const std::string etag =
      fmt::format("{}-log{}-{}", context.instance, log.run, hash_text(text->version()));
  return download(
      etag, ingest::text_file_name(log.relative_path), [text] { return text->next(); },
      text->size_bytes());
}

// No run was read from it.
RequestError job_log_changed(const std::string& why) {
  return {409, "Log changed", fmt::format("The log cannot be sent: {} while it was read.", why)};
}

// As it stands: what a job writes is not taken for a compressed log.
ingest::OpenLog as_it_stands(parser::FileDescriptor file) {
  struct stat status {};
  if (fstat(file.get(), &status) != 0) throw cannot_read_log(std::strerror(errno));
  ingest::OpenLog log;
  log.file = std::move(file);
  log.facts = ingest::file_facts(status);
  return log;
}

}  // namespace

http::Response get_run_log_text(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {});
  const FoundLog found = find_log(context, id_parameter(request));
  if (const auto* const pushed = std::get_if<PushedLog>(&found)) {
    return download_pushed(context, *pushed);
  }
  return download_watched(context, std::get<WatchedLog>(found));
}

http::Response get_job_log_text(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {"of"});
  const std::string path = asked_job_log(context, request, parameters).path;
  const auto absent = not_found("There is no such log, or none yet.");
  if (path.empty()) throw absent;
  auto opened = dispatch::open_job_file(path);
  if (!opened) throw log_unreadable(opened.error().message);
  if (!opened->is_open()) throw absent;
  const FilePlace place{path, "", job_log_changed};
  const auto file = std::make_shared<parser::FileDescriptor>(*std::move(opened));
  const LogStream stream =
      begin_stream(place, {}, [file] { return as_it_stands(std::move(*file)); });
  return download(file_etag(context, path, stream->facts()), path.substr(path.rfind('/') + 1),
                  pieces_of(place, stream), stream->size_bytes());
}

}  // namespace llmb::api
