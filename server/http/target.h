// What a request line's target and a Host header say, checked strictly: nothing that a proxy and
// this server could read in two ways gets through. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/http/message.h"

namespace llmb::http {

// Fills target, path and query of `request` (and host, where the target names one). Returns what
// is wrong with `raw` in words for the client; empty where nothing is.
std::string read_target(std::string_view raw, Request& request);

// "localhost", or a numeric address of the loopback, however it is written.
bool is_loopback_name(const std::string& name);

// `host` is a Host header: a name or address with or without a port. Any port is accepted, since
// tunnels change it. The loopback's own names and addresses are always allowed: no page of others
// has one of them for its name.
bool host_is_allowed(std::string_view host, const std::vector<std::string>& allowed_hosts);

bool is_valid_utf8(std::string_view text);

}  // namespace llmb::http
