# Read by cmake --install after the programs: writes what llmb-report says of itself to where man and
# the shells look for it, and the unit with the place of the program.
# llmb_program: what starts it here. llmb_unit: the unit's template. llmb_bin: below the prefix.
set(llmb_share "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/share")
set(llmb_documents
  "man/man1/llmb-report.1|manual"
  "bash-completion/completions/llmb-report|completion|bash"
  "zsh/site-functions/_llmb-report|completion|zsh")
foreach(document IN LISTS llmb_documents)
  string(REPLACE "|" ";" words "${document}")
  list(POP_FRONT words file)
  message(STATUS "Installing: ${llmb_share}/${file}")
  get_filename_component(folder "${llmb_share}/${file}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  execute_process(COMMAND ${llmb_program} ${words} OUTPUT_FILE "${llmb_share}/${file}"
    COMMAND_ERROR_IS_FATAL ANY)
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${CMAKE_INSTALL_PREFIX}/share/${file}")
endforeach()

set(llmb_unit_file "lib/systemd/system/llmb-report.service")
message(STATUS "Installing: $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${llmb_unit_file}")
set(LLMB_PROGRAM "${CMAKE_INSTALL_PREFIX}/${llmb_bin}/llmb-report")
configure_file("${llmb_unit}" "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${llmb_unit_file}" @ONLY)
list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${CMAKE_INSTALL_PREFIX}/${llmb_unit_file}")
