// Holds nothing: the target of which it is the one source precompiles the tests' headers.
