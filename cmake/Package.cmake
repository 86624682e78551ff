# The Debian package: `make package`. What is installed, and what it is called.
install(TARGETS berth RUNTIME DESTINATION bin)
install(FILES deploy/debian/berth.service DESTINATION /lib/systemd/system)
install(FILES deploy/debian/berth.default DESTINATION /etc/default RENAME berth)
install(FILES deploy/debian/scheduler.yaml deploy/static-pod.yaml deploy/kustomize/base/deployment.yaml
        deploy/kustomize/base/rbac.yaml
        DESTINATION share/doc/berth/examples)
install(DIRECTORY deploy/monitoring DESTINATION share/doc/berth/examples)
install(FILES README.md docs/operations.md docs/metrics.md DESTINATION share/doc/berth)
install(FILES LICENSE DESTINATION share/doc/berth RENAME copyright)
find_program(GZIP gzip REQUIRED)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/berth.8.gz
                   COMMAND ${GZIP} -9nc ${CMAKE_SOURCE_DIR}/deploy/debian/berth.8 > ${CMAKE_BINARY_DIR}/berth.8.gz
                   DEPENDS deploy/debian/berth.8)
# Pages of the commands and completion, from what the program prints about itself.
set(manual ${CMAKE_BINARY_DIR}/manual)
add_custom_command(OUTPUT ${manual}/made
                   COMMAND ${CMAKE_COMMAND} -E rm -rf ${manual}
                   COMMAND ${CMAKE_SOURCE_DIR}/tools/manual $<TARGET_FILE:berth> ${manual} ${CMAKE_CROSSCOMPILING_EMULATOR}
                   COMMAND ${GZIP} -9nr ${manual}/man
                   COMMAND ${CMAKE_COMMAND} -E touch ${manual}/made
                   DEPENDS berth tools/manual VERBATIM)
add_custom_target(manual ALL DEPENDS ${CMAKE_BINARY_DIR}/berth.8.gz ${manual}/made)
add_dependencies(programs manual)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # a package has no tests: they need not be built for it
install(FILES ${CMAKE_BINARY_DIR}/berth.8.gz DESTINATION share/man/man8)
install(DIRECTORY ${manual}/man DESTINATION share)
install(FILES ${manual}/completion/berth.bash DESTINATION share/bash-completion/completions RENAME berth)
install(FILES ${manual}/completion/_berth DESTINATION share/zsh/vendor-completions)
install(FILES ${manual}/completion/berth.fish DESTINATION share/fish/vendor_completions.d)
# For control planes that call the scheduler by its old name.
install(CODE "file(MAKE_DIRECTORY \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/berth)
  file(CREATE_LINK ../../bin/berth \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/berth/kube-scheduler SYMBOLIC)")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME berth)
set(CPACK_PACKAGE_CONTACT "berth developers <berth@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/package)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
if(CMAKE_CROSSCOMPILING)  # dpkg-shlibdeps looks at this machine's libraries
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
  set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_BINARY_DIR}/depends.cmake)
  file(WRITE ${CPACK_PROJECT_CONFIG_FILE} "
    execute_process(COMMAND ${CMAKE_SOURCE_DIR}/tools/cross/depends ${CMAKE_BINARY_DIR}/bin/berth ${CMAKE_SYSROOT}
                    OUTPUT_VARIABLE CPACK_DEBIAN_PACKAGE_DEPENDS OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)")
else()
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS tzdata)  # for CronJobs in berth up
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/deploy/debian/conffiles)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Kubernetes scheduler, a drop-in for kube-scheduler
berth decides as the kube-scheduler of the cluster's Kubernetes minor does, much faster, and takes its flags, its
configuration file, its Lease and its place in dashboards.")
include(CPack)
