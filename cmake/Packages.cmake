# `make deb`: a package for Debian of what `make install` installs, with the libraries that its programs need as
# dependencies (dpkg-shlibdeps finds them).
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME wadi)
set(CPACK_PACKAGE_VENDOR "wadi")
set(CPACK_PACKAGE_CONTACT "the wadi developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS ffmpeg)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "blender, paraview, povray, python3-numpy")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "wadi simulates dry sand, water, wet sand and mud as a scene file describes them,\n wraps surfaces around the particles, renders pictures and video, shows runs live in a\n browser and hands them to Blender, Houdini, ParaView, POV-Ray and pbrt.")
# The shared library's own package would run ldconfig: so does this one.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS OFF)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
file(WRITE ${PROJECT_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/triggers)
include(CPack)
