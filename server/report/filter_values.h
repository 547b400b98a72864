// The values of filters that somebody asks for, in the API or on the command line, as
// storage::RunFilter has them.
#pragma once

#include <string>
#include <vector>

#include "parser/foundation/instant.h"

namespace llmb::report {

// Of names that are written in lower case, but that runs and people may write in upper case: as
// they are asked for, and in both.
std::vector<std::string> spellings_asked(const std::vector<std::string>& names);

// "none" asks for runs that are of no cluster, and of one that somebody gave this name.
std::vector<std::string> clusters_asked(std::vector<std::string> names);

// "none" asks for runs that failed by nothing that shows.
std::vector<std::string> causes_asked(std::vector<std::string> causes);

// Launches are known to the second: of what is asked for within one, it counts as a whole.
std::string since_asked(parser::Instant since);
std::string before_asked(parser::Instant before);

}  // namespace llmb::report
