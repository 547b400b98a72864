// What every request of an agent passes: that this server receives, that the token is of the
// agent's cluster, that few are at work at once, and the one writer of ingest.
#pragma once

#include <functional>
#include <string>

#include "server/api/context.h"
#include "server/api/json.h"
#include "server/http/message.h"
#include "storage/job_records.h"

namespace llmb::api {

void require_receiving(const Context& context);
void require_own_cluster(const storage::TokenRecord& token, const std::string& cluster);
void require_content_type(const http::Request& request, const char* wanted);

// Runs what unpacks a body. One of another version is refused by a status at which its agent waits,
// for its logs are as they should be (409); what else it throws as BadField is theirs (400).
void understand(const std::function<void()>& unpack);

// One of the turns (push_turns.h), for the agent that has that token and names its store in a
// header of the request; where there is none, 503.
class PushTurn {
 public:
  PushTurn(Context& context, const http::Request& request, const storage::TokenRecord& token);
  ~PushTurn();
  PushTurn(const PushTurn&) = delete;
  PushTurn& operator=(const PushTurn&) = delete;

 private:
  PushTurns& turns_;
  const std::string agent_;
};

// Runs `task` on the thread of ingest's writer, and throws what it throws. Throws RequestError 503
// where the writer has no room or does not come to it in time; the task, which owns all it uses,
// may be under way then, but does not begin any more.
void write_in_turn(Context& context, std::function<void(storage::Writer&)> task);

// This start of the server, for agents: another one, too, where removed logs were let in again. To
// be asked for before anything that an answer tells of logs is read or decided: so an agent that
// has compared since then compares once more.
std::string instance_for_agents(Context& context);
// Every answer to an agent: `fields`, behind the form's version and that.
http::Response answer_agent(const std::string& instance, const Json& fields);

}  // namespace llmb::api
