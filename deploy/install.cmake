# cmake --install BUILD --prefix PREFIX: the programs, their manual page, what shells complete by, and
# a systemd unit. With --component portable the static programs take the place of the ordinary ones.
include(GNUInstallDirs)

# llmb_install(target suffix, then options of install() that say when).
function(llmb_install suffix)
  install(TARGETS llmb-report${suffix} llmb-step-runner${suffix}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} ${ARGN})
  install(CODE "set(llmb_program ${CMAKE_CROSSCOMPILING_EMULATOR} \"$<TARGET_FILE:llmb-report${suffix}>\")
    set(llmb_unit \"${CMAKE_SOURCE_DIR}/deploy/llmb-report.service.in\")
    set(llmb_bin \"${CMAKE_INSTALL_BINDIR}\")" ${ARGN})
  install(SCRIPT deploy/install_documents.cmake ${ARGN})
endfunction()

llmb_install("")
if(NOT LLMB_NO_STATIC_PROGRAMS)
  llmb_install(-static COMPONENT portable EXCLUDE_FROM_ALL)
endif()
