// The names of server/report that nearly every handler uses.
#pragma once

#include "server/report/json.h"

namespace llmb::api {

using report::Json;
using report::null_if_empty;
using report::nullable;
using report::number;
using report::to_text;

}  // namespace llmb::api
