// push_all: an agent for as long as the server lacks something, and no longer.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "server/push/push_agent.h"

namespace llmb::push {

std::string logs_text(std::int64_t count);  // "1 log", "3 logs"

// What the server lacks of an agent that gave up: "3 logs".
std::string lacking_text(const PushStatus& status);

// Starts the agent, and is back once the server has all (true), once it has taken nothing for
// `patience`, where it refuses the token from the first, or when `goes_on` says no. That is called
// again and again, and waits a little.
bool push_all(PushAgent& agent, std::chrono::steady_clock::duration patience,
              const std::function<bool(const PushStatus&)>& goes_on);

}  // namespace llmb::push
