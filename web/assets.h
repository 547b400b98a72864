// The dashboard's files as they stand inside the program: bundled by npm when it is built.
#pragma once

#include <span>
#include <string_view>

namespace llmb::web {

struct File {
  std::string_view path;  // of its URL: "/index.html", "/assets/app-0123456789ab.js"
  std::string_view content_type;
  std::string_view bytes;     // not compressed
  bool is_immutable = false;  // its name changes with its content: may be cached for ever
};

// All of them, for the life of the program. Pages of the dashboard ("/", "/runs/7") have no file of
// their own: each is answered with /index.html, which reads its URL.
std::span<const File> files();

}  // namespace llmb::web
