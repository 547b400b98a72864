#include "server/cli/foreign_option.h"

#include <algorithm>

namespace llmb::cli {
namespace {

struct ForeignOption {
  std::string_view typed;
  std::string_view ours;  // a command without this option has nothing instead
  std::string_view instead;
};

constexpr std::string_view kListen = "--listen ADDR:PORT says where to listen";
constexpr std::string_view kIntoFile = "what is printed goes into a file by > FILE";
constexpr std::string_view kLogLevel = "--log-level LEVEL says how much is logged";
constexpr std::string_view kScale = "--scale N says how many GPUs";

constexpr ForeignOption kForeignOptions[] = {
    {"--address", "--listen", kListen},
    {"--bind", "--listen", kListen},
    {"--host", "--listen", kListen},
    {"--port", "--listen", kListen},
    {"-p", "--listen", kListen},
    {"--database", "--db", "--db names the database"},
    {"--json", "--format", "--format json prints JSON"},
    {"--csv", "--format", "--format csv prints CSV"},
    {"--output", "--format", kIntoFile},
    {"-o", "--format", kIntoFile},
    {"--debug", "--log-level", kLogLevel},
    {"--quiet", "--log-level", kLogLevel},
    {"--verbose", "--log-level", kLogLevel},
    {"-q", "--log-level", kLogLevel},
    {"-v", "--log-level", kLogLevel},
    {"--watch", "--follow", "--follow goes on reading what grows"},
    {"--gpus", "--scale", kScale},
    {"--nodes", "--scale", kScale},
    {"-N", "--scale", kScale},
    {"-n", "--scale", kScale},
    {"--model", "--workload", "--workload and --model-size name the model"},
    {"--dry-run", "--yes", "without --yes it only shows what would go"},
};

}  // namespace

std::string what_does_instead(std::string_view typed, const std::vector<std::string>& known) {
  for (const ForeignOption& option : kForeignOptions) {
    if (option.typed != typed) continue;
    if (std::find(known.begin(), known.end(), option.ours) == known.end()) continue;
    return "; " + std::string(option.instead);
  }
  return {};
}

}  // namespace llmb::cli
