// push_all: an agent for as long as the server lacks something, and no longer.
#pragma once

#include <chrono>
#include <functional>

#include "server/push/push_agent.h"

namespace llmb::push {

// Starts the agent, and is back once the server has all (true), once it has taken nothing for
// `patience`, where it refuses the token from the first, or when `goes_on` says no. That is called
// again and again, and waits a little.
bool push_all(PushAgent& agent, std::chrono::steady_clock::duration patience,
              const std::function<bool(const PushStatus&)>& goes_on);

}  // namespace llmb::push
