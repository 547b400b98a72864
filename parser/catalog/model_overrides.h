// What llmb-config says the user changed of a recipe's model, beside the figures that tables state.
#pragma once

#include <string>

#include "parser/layout/run_configuration.h"

namespace llmb::parser {

// "ffn_hidden_size=8192, hidden_size=4096"; empty for none. How long and from which seed a run
// trains is left out, for no row says it, and so are data parallelism, which follows, and what does
// not change the work: logging, saving, names, the tokenizer's path.
std::string overrides_of_no_figure(const RunConfiguration& configuration);

}  // namespace llmb::parser
