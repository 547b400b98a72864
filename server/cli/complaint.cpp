#include "server/cli/complaint.h"

#include <iostream>

#include "server/report/text_table.h"

namespace llmb::cli {

int complain(std::string_view command, const std::string& what, int exit_code) {
  std::cerr << "llmb-report " << command << ": " << report::printable(what) << '\n';
  return exit_code;
}

}  // namespace llmb::cli
