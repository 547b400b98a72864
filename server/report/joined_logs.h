// JoinedLogs: which log each line is of, where one text holds those of several: as grep and rg name
// a file before each line of it, and as tail and head name it above its lines.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace llmb::report {

class JoinedLogs {
 public:
  // Some text of the log `name`, as it stands in that log, but that grep ends a last line which has
  // no end there. None, where a name stands above its lines. A name may come again after another
  // one. Empty: of the only one, which nothing names.
  using Take = std::function<void(std::string_view name, std::string_view text)>;

  explicit JoinedLogs(Take take) : take_(std::move(take)) {}

  // Bytes in pieces of any length. Holds back the beginning of a line at most, and of the whole
  // what tells whether it names files: two lines, or 64 KiB.
  void feed(std::string_view bytes);
  void finish();

  // Known after finish().
  bool are_named() const { return form_ == Form::named_lines || form_ == Form::headed; }

 private:
  enum class Form {
    not_known,
    one_log,
    named_lines,  // run.out:text
    headed,       // ==> run.out <==
  };

  void look_at_beginning(bool is_all);
  // Gives how many of the bytes are done.
  std::size_t pass_lines(std::string_view bytes, bool is_all);
  // Of a line's beginning: takes the name that stands there, and gives how many bytes of the line
  // are no text of the log.
  std::size_t read_name(std::string_view line);
  void pass(std::string_view text);
  void pass_held_end();

  Take take_;
  Form form_ = Form::not_known;
  std::string held_;
  std::string name_;
  bool is_in_line_ = false;  // whose name was read
  bool holds_end_ = false;   // of a line: before a header it is no log's
};

}  // namespace llmb::report
