// Account: who runs this program. Read from the environment and /etc/passwd, and not asked of the
// system's name services, which a statically linked program cannot load.
#pragma once

#include <string>

namespace llmb::dispatch {

struct Account {
  std::string name;  // the user id's digits where nothing names it
  std::string home;  // empty where nothing tells
};

Account own_account();

}  // namespace llmb::dispatch
