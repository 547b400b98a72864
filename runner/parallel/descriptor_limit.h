// How many files and sockets this process may have open: ranks have a socket to each other one, and
// the usual soft limit of 1,024 is less than a large run needs.
#pragma once

namespace llmb::runner {

// Raises the soft limit to the hard one. Throws CommunicationError where that is too few for a run
// of so many ranks, before anybody is waited for.
void allow_sockets_of(int ranks);

// Whether this error number says that no more descriptors, or no memory for one, is to be had: then
// trying again is of no use.
bool is_lack_of_descriptors(int error);

}  // namespace llmb::runner
