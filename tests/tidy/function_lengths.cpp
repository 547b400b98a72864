#include "tests/tidy/function_lengths.h"

#include <cctype>
#include <regex>

namespace llmb::tidy {
namespace {

// The file's text without comments, literals and preprocessor lines; line ends stay.
class PlainText {
 public:
  explicit PlainText(const SourceFile& file) {
    for (const std::string& line : file.lines) {
      take(line);
      text += '\n';
    }
  }

  std::string text;

 private:
  void take(const std::string& line) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (closing_.empty() && (continues_ || (begin != std::string::npos && line[begin] == '#'))) {
      continues_ = ends_with(line, "\\");
      return;
    }
    for (std::size_t at = 0; at < line.size();)
      at = closing_.empty() ? code(line, at) : skip(line, at);
  }

  // Inside a block comment or a raw literal: on to its end, or to the line's.
  std::size_t skip(const std::string& line, std::size_t at) {
    const std::size_t end = line.find(closing_, at);
    if (end == std::string::npos) return line.size();
    const std::size_t next = end + closing_.size();
    closing_.clear();
    return next;
  }

  std::size_t code(const std::string& line, std::size_t at) {
    if (line.compare(at, 2, "//") == 0) return line.size();
    if (line.compare(at, 2, "/*") == 0) {
      closing_ = "*/";
      return at + 2;
    }
    if (line.compare(at, 2, "R\"") == 0) {
      const std::size_t open = line.find('(', at);
      closing_ = ")" + line.substr(at + 2, open - at - 2) + "\"";
      return open + 1;
    }
    const bool is_digit_mark =
        line[at] == '\'' && at > 0 && (std::isalnum(static_cast<unsigned char>(line[at - 1])) != 0);
    if (line[at] == '"' || (line[at] == '\'' && !is_digit_mark)) return literal_end(line, at);
    text += line[at];
    return at + 1;
  }

  static std::size_t literal_end(const std::string& line, std::size_t at) {
    const char quote = line[at];
    for (++at; at < line.size() && line[at] != quote; ++at) {
      if (line[at] == '\\') ++at;
    }
    return at + 1;
  }

  std::string closing_;     // what ends the comment or raw literal that we are in
  bool continues_ = false;  // a preprocessor line that goes on
};

enum class Scope { outer, function, initializer };

// What the brace after `head` opens, at a place where functions may be defined.
Scope scope_of(const std::string& head) {
  static const std::regex outer(
      "(^|[^A-Za-z0-9_])(namespace|struct|class|enum|union|extern)[^()]*$");
  static const std::regex assigned("=\\s*$");
  static const std::regex member_initializer("\\)[^;]*[^:]:[^:].*[A-Za-z0-9_>]$");
  if (head.find('(') == std::string::npos) {
    return std::regex_search(head, outer) ? Scope::outer : Scope::initializer;
  }
  if (std::regex_search(head, assigned)) return Scope::initializer;
  if (std::regex_search(head, member_initializer)) return Scope::initializer;
  if (std::regex_search(head, outer)) return Scope::outer;
  return Scope::function;
}

}  // namespace

std::vector<FunctionBody> function_bodies(const SourceFile& file) {
  std::vector<FunctionBody> bodies;
  std::vector<Scope> scopes;
  std::string head;  // since the last ; or brace of the enclosing scope
  std::size_t line = 1;
  std::size_t inside = 0;  // open functions and initializers
  FunctionBody body;
  for (const char c : PlainText(file).text) {
    if (c == '\n') ++line;
    if (c == '{') {
      const Scope scope = inside > 0 ? Scope::initializer : scope_of(head);
      if (scope == Scope::function) body.first_line = line;
      if (scope != Scope::outer) ++inside;
      if (scope == Scope::outer) head.clear();
      scopes.push_back(scope);
    } else if (c == '}' && !scopes.empty()) {
      const Scope scope = scopes.back();
      scopes.pop_back();
      if (scope != Scope::outer) --inside;
      if (scope != Scope::initializer) head.clear();
      if (scope == Scope::function) bodies.push_back({body.first_line, line});
    } else if (inside == 0) {
      if (c == ';') {
        head.clear();
      } else {
        head += c == '\n' ? ' ' : c;
      }
    }
  }
  return bodies;
}

}  // namespace llmb::tidy
