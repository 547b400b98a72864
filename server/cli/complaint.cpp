#include "server/cli/complaint.h"

#include <algorithm>
#include <iostream>

#include "server/report/text_table.h"

namespace llmb::cli {

int complain(std::string_view command, const std::string& what, int exit_code) {
  std::cerr << "llmb-report " << command << ": ";
  // A complaint may have several lines.
  for (std::size_t begin = 0; begin <= what.size();) {
    const std::size_t end = std::min(what.find('\n', begin), what.size());
    std::cerr << (begin > 0 ? "  " : "") << report::printable(what.substr(begin, end - begin))
              << '\n';
    begin = end + 1;
  }
  return exit_code;
}

}  // namespace llmb::cli
