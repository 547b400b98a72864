// Where the launch.sh of an installed recipe is: as the configuration says, else in the recipes'
// repository, whose folders the documents name ("cd $LLMB_REPO/grok1/").
#pragma once

#include <string>

#include "parser/result.h"
#include "server/dispatch/cluster_settings.h"
#include "server/dispatch/document_words.h"

namespace llmb::dispatch {

// One of the repository counts where it can be seen; the error says where was looked.
parser::Result<std::string> find_launch_script(const std::string& workload,
                                               const ClusterSettings& settings,
                                               const DocumentWords& words);

// Whether it can be seen from here. An error says why not.
parser::Result<void> see_launch_script(const std::string& script);

}  // namespace llmb::dispatch
