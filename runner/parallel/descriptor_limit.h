// How many files and sockets this process may have open: ranks have a socket to each other one, and
// the usual soft limit of 1,024 is less than a large run needs.
#pragma once

#include <sys/resource.h>

#include <string>

namespace llmb::runner {

// Raises the soft limit to the hard one. Throws CommunicationError where that is too few for a run
// of so many ranks, before anybody is waited for.
void allow_sockets_of(int ranks);

// Why a process with this limit is no rank of so many; empty where it is enough. `error` is that of
// raising the soft limit, or zero.
std::string too_few_files_text(int ranks, const rlimit& limit, int error);

// Whether this error number says that no more descriptors, or no memory for one, is to be had.
bool is_lack_of_descriptors(int error);

}  // namespace llmb::runner
