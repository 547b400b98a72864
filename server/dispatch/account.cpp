#include "server/dispatch/account.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <vector>

#include "parser/foundation/text.h"

namespace llmb::dispatch {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Account own_account() {
  // name:password:uid:gid:comment:home:shell
  const std::string uid = fmt::to_string(geteuid());
  std::ifstream file("/etc/passwd");
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string_view> fields = parser::split(line, ':');
    if (fields.size() >= 6 && fields[2] == uid) {
      return {std::string(fields[0]), std::string(fields[5])};
    }
  }
  // Of a directory service: whoever logged the user in has asked it.
  Account account{variable("USER"), variable("HOME")};
  if (account.name.empty()) account.name = variable("LOGNAME");
  if (account.name.empty()) account.name = uid;
  return account;
}

}  // namespace llmb::dispatch
