#include "runner/simt/grid_runner.h"

#include <atomic>
#include <string>

namespace llmb::runner::simt {
namespace {
std::atomic<StreamExecutor> executor_of_process = nullptr;
std::atomic<OperandCheck> check_of_process = nullptr;
}  // namespace

void set_stream_executor(StreamExecutor executor) {
  executor_of_process = executor;
}

StreamExecutor stream_executor() {
  return executor_of_process;
}

void set_operand_check(OperandCheck check) {
  check_of_process = check;
}

OperandCheck operand_check() {
  return check_of_process;
}

std::string name_in_signature(std::string_view signature) {
  constexpr std::string_view kBefore = "Kernel = ";
  const auto begin = signature.find(kBefore) + kBefore.size();
  std::string name(signature.substr(begin, signature.find_first_of(";]", begin) - begin));
  // Without the namespaces, of the template's arguments too. Clang's name of an unnamed one has a
  // space.
  constexpr std::string_view kUnnamed = "(anonymous namespace)";
  for (auto at = name.find(kUnnamed); at != std::string::npos; at = name.find(kUnnamed)) {
    name.replace(at, kUnnamed.size(), "{anonymous}");
  }
  for (auto end = name.find("::"); end != std::string::npos; end = name.find("::")) {
    const auto before = name.find_last_of("<, ", end);
    const auto first = before == std::string::npos ? 0 : before + 1;
    name.erase(first, end + 2 - first);
  }
  return name;
}

}  // namespace llmb::runner::simt
