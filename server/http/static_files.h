// StaticFiles: files that stand in memory, compressed beforehand, and the page that answers for
// all addresses of a single-page dashboard. Immutable once made, so any thread may ask it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/message.h"

namespace llmb::http {

struct StaticFile {
  std::string_view path;  // "/index.html", "/assets/app-0123456789ab.js"
  std::string_view content_type;
  std::string_view bytes;
  bool is_immutable = false;  // the name changes with the content
};

class StaticFiles {
 public:
  // Copies and compresses `files`: takes a moment.
  explicit StaticFiles(const std::vector<StaticFile>& files);

  // For Router::set_fallback(). A path without a file is answered with /index.html, unless it is
  // under /api or its last part has a dot: those get a 404.
  Response serve(const Request& request) const;

 private:
  std::map<std::string, Response, std::less<>> responses_;
};

}  // namespace llmb::http
